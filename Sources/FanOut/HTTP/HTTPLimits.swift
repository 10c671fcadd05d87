public import NIOCore

/// What a client of the HTTP port may use up.
public struct HTTPLimits: Sendable {
    /// A connection on which nothing is asked and nothing answered for this long is closed.
    public var idle: TimeAmount
    /// From a request's first byte to the end of its header.
    public var header: TimeAmount
    /// From the end of a request's header to the end of its body, however small.
    public var body: TimeAmount
    /// Bytes of a body that give it one more second.
    public var bodyRate: Int
    /// From the end of a request's header to the end of its body, however large.
    public var longestBody: TimeAmount
    /// The longest a client may take to read an answer.
    public var answer: TimeAmount
    /// How often connections are looked at.
    public var idleCheck: TimeAmount
    /// Parts of pipelined requests held back behind a slow answer, and answers on their way at a time.
    public var pipelinedParts: Int
    /// Bytes of such requests, and of a body that come behind the answer to its request.
    public var pipelinedBytes: Int
    /// Requests that one client may make per second in the long run, and at once after a pause; nil for any number.
    ///
    /// A client is a `PeerAddress.account`. It may make more for those behind its address who watch: see `RequestBudget`.
    public var requests: (perSecond: Double, burst: Double)?
    /// Connections that one client may have open; nil for any number.
    ///
    /// It may have more for those who watch: see `MediaSite.admitConnection`.
    public var connections: Int?

    /// Requests that may wait for media at a time: of one viewer, and in all.
    public var waits: (perSession: Int, total: Int)

    /// Makes one from its parts.
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

    /// How long a body of which `bytes` have come may take from its request's header to its end.
    func bodyTime(bytes: Int) -> TimeAmount {
        let seconds = min(bytes, 1 << 40) / max(bodyRate, 1)
        return min(longestBody, body + .seconds(Int64(seconds)))
    }
}
