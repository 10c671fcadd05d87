/// How a room's HLS is doing.
public struct HLSStatus: Sendable, Equatable {
    /// How far it is.
    public var state: HLSState
    /// Seconds since 1970 when the playlist got its first whole segment; nil before, and once stopped.
    public var playableAt: Double?

    /// Makes a status; HLS that never ran by default.
    public init(state: HLSState = .stopped, playableAt: Double? = nil) {
        self.state = state
        self.playableAt = playableAt
    }
}
