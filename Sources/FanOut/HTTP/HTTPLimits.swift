public import NIOCore

/// What a client of the HTTP port may use up.
public struct HTTPLimits: Sendable {
    /// A connection without a request for this long is closed; so is one that never finishes a header.
    public var idle: TimeAmount
    /// How often connections are looked at.
    public var idleCheck: TimeAmount
    /// Parts of pipelined requests held back behind a slow answer.
    public var pipelinedParts: Int

    public init(idle: TimeAmount = .seconds(30), idleCheck: TimeAmount = .seconds(10), pipelinedParts: Int = 64) {
        self.idle = idle
        self.idleCheck = idleCheck
        self.pipelinedParts = pipelinedParts
    }
}
