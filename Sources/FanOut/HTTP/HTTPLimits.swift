public import NIOCore

/// The limits for a client of the HTTP port.
public struct HTTPLimits: Sendable {
    /// The time without a request or response after which a connection is closed.
    public var idle: TimeAmount
    /// The maximum time from a request's first byte to the end of its header.
    public var header: TimeAmount
    /// The maximum time from the end of a request's header to the end of a small body.
    public var body: TimeAmount
    /// The number of body bytes that extend the body timeout by one second.
    public var bodyRate: Int
    /// The maximum time from the end of a request's header to the end of a body of any size.
    public var longestBody: TimeAmount
    /// The maximum time that a client may take to read a response.
    public var answer: TimeAmount
    /// The interval of the idle check.
    public var idleCheck: TimeAmount
    /// The maximum number of pipelined request parts queued behind a slow response, and of responses being written.
    public var pipelinedParts: Int
    /// The maximum bytes of queued pipelined requests, and of a body that arrives after the response to its request.
    public var pipelinedBytes: Int
    /// The request rate and burst of one client; nil for no limit.
    ///
    /// A client is a `PeerAddress.account`. Viewers behind its address raise the limit, see `RequestRateLimiter`.
    public var requests: (perSecond: Double, burst: Double)?
    /// The maximum number of open connections of one client; nil for no limit.
    ///
    /// Viewers behind the address raise the limit, see `MediaService.admitConnection`.
    public var connections: Int?

    /// The maximum number of requests waiting for media: of one session, and in total.
    public var waits: (perSession: Int, total: Int)

    /// Creates the limits from their parts.
    public init(
        idle: TimeAmount = .seconds(30),
        header: TimeAmount = .seconds(10),
        body: TimeAmount = .seconds(10),
        bodyRate: Int = 16 * 1024,
        longestBody: TimeAmount = .seconds(120),
        answer: TimeAmount = .seconds(120),
        idleCheck: TimeAmount = .seconds(5),
        pipelinedParts: Int = 64,
        pipelinedBytes: Int = 64 * 1024,
        requests: (perSecond: Double, burst: Double)? = (100, 200),
        connections: Int? = 256,
        waits: (perSession: Int, total: Int) = (2, 50_000)
    ) {
        self.idle = idle
        self.header = header
        self.body = body
        self.bodyRate = bodyRate
        self.longestBody = longestBody
        self.answer = answer
        self.idleCheck = idleCheck
        self.pipelinedParts = pipelinedParts
        self.pipelinedBytes = pipelinedBytes
        self.requests = requests
        self.connections = connections
        self.waits = waits
    }

    /// Returns the time allowed from the end of a request's header to the end of a body of which `bytes` have arrived.
    func bodyTime(bytes: Int) -> TimeAmount {
        let seconds = min(bytes, 1 << 40) / max(bodyRate, 1)
        return min(longestBody, body + .seconds(Int64(seconds)))
    }
}
