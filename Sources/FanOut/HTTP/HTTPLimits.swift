public import NIOCore

/// What a client of the HTTP port may use up.
public struct HTTPLimits: Sendable {
    /// A connection on which nothing is asked and nothing answered for this long is closed.
    public var idle: TimeAmount
    /// From a request's first byte to the end of its header.
    public var header: TimeAmount
    /// From the end of a request's header to the end of the request.
    public var body: TimeAmount
    /// The longest a client may take to read an answer.
    public var answer: TimeAmount
    /// How often connections are looked at.
    public var idleCheck: TimeAmount
    /// Parts of pipelined requests held back behind a slow answer, and answers on their way at a time.
    public var pipelinedParts: Int
    /// Requests that one address may make per second in the long run, and at once after a pause; nil for any number.
    ///
    /// A player of low latency makes about ten a second, and a house of viewers may share one address.
    public var requests: (perSecond: Double, burst: Double)?
    /// Whether requests from this machine, where a proxy for many clients may run, are not counted.
    public var sparesLoopback: Bool

    /// Requests that may wait for media at a time: of one viewer, and in all.
    public var waits: (perSession: Int, total: Int)

    /// Makes one from its parts.
    public init(
        idle: TimeAmount = .seconds(30),
        header: TimeAmount = .seconds(10),
        body: TimeAmount = .seconds(120),
        answer: TimeAmount = .seconds(120),
        idleCheck: TimeAmount = .seconds(5),
        pipelinedParts: Int = 64,
        requests: (perSecond: Double, burst: Double)? = (1000, 2000),
        sparesLoopback: Bool = true,
        waits: (perSession: Int, total: Int) = (2, 50_000)
    ) {
        self.idle = idle
        self.header = header
        self.body = body
        self.answer = answer
        self.idleCheck = idleCheck
        self.pipelinedParts = pipelinedParts
        self.requests = requests
        self.sparesLoopback = sparesLoopback
        self.waits = waits
    }
}
