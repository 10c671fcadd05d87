/// How long the library waits for a gateway, and how much it keeps for a slow reader.
public struct ClientLimits: Sendable, Equatable {
    /// For the whole answer to a request, and for the first line of the answer to an event stream.
    public var answer = Duration.seconds(15)
    /// For a picture or a sound to be sent or fetched.
    public var file = Duration.seconds(300)
    /// For the first event of a stream after its answer has begun.
    public var firstEvent = Duration.seconds(5)
    /// For any sign of a stream that is open; the gateway gives one every 5 s.
    public var silence = Duration.seconds(15)
    /// For the reason of an end, on a stream that is open, after another answer has told of the end.
    public var lastWord = Duration.seconds(2)
    /// Before the first try to open a stream again.
    public var firstDelay = Duration.milliseconds(80)
    /// How much longer each delay is than the one before it.
    public var delayFactor = 1.5
    /// The longest delay, before jitter.
    public var longestDelay = Duration.seconds(5)
    /// Part by which a delay may be shorter or longer, 0 to 1.
    public var delayJitter = 0.5
    /// Events that may wait for their reader; with one more the stream ends, and is replayed when it is opened again.
    public var waitingEvents = 1024

    /// Makes the limits every client keeps to.
    public init() {}
}
