public import Media

/// The limits and times of one push; the defaults suit the large platforms.
///
/// All times are in seconds.
public struct PushConfiguration: Sendable {
    /// From resolving the name to the target's consent to publish, TCP, TLS and RTMP handshakes included.
    public var connectDeadline = 10.0
    /// One TCP connection attempt; a host may have several addresses.
    public var dialDeadline = 5.0
    /// One call into librtmp while streaming; a call that takes longer loses its socket.
    public var callLimit = 2.0
    /// How long a target must hold the stream after its first frame to count as having accepted it.
    public var acceptance = 0.3
    /// A target must acknowledge `progressBytes` in this time while data waits for it.
    public var progressLimit = 5.0
    /// Bytes that show that a target takes something.
    public var progressBytes = 4096
    /// Time for the farewell when a push is stopped.
    public var farewell = 0.5
    /// How tries follow each other.
    public var backoff = Backoff(initial: 1, maximum: 30, factor: 1.5)
    /// How long a connection must last for the backoff to begin again, in seconds.
    public var healthyAfter = 30.0
    /// Between tries of a target that refused the stream or cannot be right.
    public var slowRetry = 30.0
    /// Failures in a row at one address before the other one, if there is a spare, is tried; an address that had the
    /// stream and lost it is left at once.
    public var failuresBeforeSpare = 2
    /// Until the first try of the other address.
    public var spareDelay = 0.2
    /// Between two looks at a spare address that is not in use; one that was out of reach is looked at after
    /// `slowRetry`.
    public var spareInterval = 180.0
    /// Without a connection for so long, an output counts as failed; it goes on trying.
    public var retryBudget = 300.0
    /// Video is expected to begin in this time; else audio is pushed alone.
    public var videoTimeout = 2.0
    /// Packets keep their timestamps; otherwise each connection begins at 0, as the large platforms like it best.
    public var keepsClock = false
    /// Bytes that may wait in the kernel; about two seconds of a usual program.
    public var sendBuffer = 512 << 10
    /// Packets may wait this long for others to go out with them, once the target has accepted the stream; 0 sends each
    /// frame when it comes.
    ///
    /// It is what an output costs: most of that is the thread's waking up and the kernel's way through TCP, whatever
    /// the number of bytes. The way to the target grows by at most this time, which a platform that buffers for seconds
    /// does not notice. What a connection begins with is never held back, and the limits of `queue` are meant on top of
    /// it.
    public var gathering = 0.0
    /// Bytes that go out at once, however long they have been gathered.
    public var gatheredBytes = 256 << 10
    /// When waiting packets are dropped, beyond those that are gathered on purpose.
    public var queue = CongestionQueue.Limits()
    /// When a target that takes too little of the program is told of, and when it is left.
    var drops = DropMonitor.Limits()
    /// A PEM file of certificates to trust besides the system's.
    public var trustFile: String?
    /// The software as it names itself to the target.
    public var flashVersion = "FMLE/3.0 (compatible; Footlight)"
    /// Resolves host names; nil asks the system.
    var resolve: NameResolving?

    /// Makes one from its parts.
    public init() {}

    /// The defaults of a mixer on its way back to its gateway, where several feeds of one clock come together.
    public static var program: PushConfiguration {
        var configuration = PushConfiguration()
        configuration.keepsClock = true
        return configuration
    }

    /// The limits of the queue that a connection really has: what is gathered is not late.
    var queueWhileGathering: CongestionQueue.Limits {
        let gathered = Int64(gathering * 1000)
        var limits = queue
        limits.disposable += gathered
        limits.frames += gathered
        limits.audio += gathered
        return limits
    }

    /// The defaults of an output, whose target buffers for seconds anyway: packets are gathered for 0.6 s.
    ///
    /// So few lots cost half of thirty frames a second. With more gathered a lot of a usual program would no longer
    /// fit into the kernel's buffer (208 KiB on an untuned Linux), and be written in two goes again.
    public static var output: PushConfiguration {
        var configuration = PushConfiguration()
        configuration.gathering = 0.6
        return configuration
    }
}
