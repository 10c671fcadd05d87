public import Media

/// The talkback of one room: one speaker at a time, who is admitted block by block.
///
/// A talk begins with its first block, and ends when the speaker ends it or no block has come for a second.
public struct RoomTalkback: Sendable {
    /// A source of blocks: two pages of one operator are two speakers.
    public struct Speaker: Sendable, Equatable {
        /// The identity of the token.
        public var identity: String
        /// What the client calls itself.
        public var session: String

        /// Creates a speaker.
        public init(identity: String, session: String) {
            self.identity = identity
            self.session = session
        }
    }

    /// The state of a talk.
    public struct Talk: Sendable, Equatable {
        /// The speaker.
        public let speaker: Speaker
        /// The identities of the hosts whose return feeds contain it.
        public var hosts: [String] = []
        /// The identities of the chosen hosts who do not receive it.
        public var unreachable: [String] = []
        /// The blocks that are not played, because they came too late or too many at once.
        public var dropped = 0
        /// The number of the newest block.
        fileprivate var sequence = Int.min
        /// Seconds of audio that have come and, in real time, are not played yet.
        fileprivate var ahead = 0.0
        fileprivate var latest: MonotonicTime
    }

    /// The verdict on a block.
    public enum Verdict: Sendable, Equatable {
        /// The block begins a talk.
        case begun
        /// The block continues the talk.
        case accepted
        /// The block is not played.
        case dropped
    }

    /// Seconds without a block after which a talk ends.
    public static let timeout = 1.0
    /// Seconds of audio that may come ahead of real time.
    public static let burst = 1.0

    private var talk: Talk?

    /// Creates the talkback of a room without a speaker.
    public init() {}

    /// Returns the talk at this moment; nil without a speaker.
    public func talk(at now: MonotonicTime) -> Talk? {
        guard let talk, now.seconds(since: talk.latest) < Self.timeout else { return nil }
        return talk
    }

    /// Decides on a block of audio.
    ///
    /// - Parameters:
    ///   - sequence: Its number, which increases from block to block.
    ///   - duration: Its length in seconds.
    /// - Throws: 409 while another speaker has the talkback.
    public mutating func receive(
        from speaker: Speaker,
        sequence: Int,
        duration: Double,
        now: MonotonicTime
    ) throws(StageError) -> Verdict {
        let present = self.talk(at: now)
        if let present, present.speaker != speaker { throw .talkbackTaken(by: present.speaker.identity) }
        var talk = present ?? Talk(speaker: speaker, latest: now)
        defer { self.talk = talk }
        talk.ahead = max(talk.ahead - now.seconds(since: talk.latest), 0)
        talk.latest = now
        guard sequence > talk.sequence, talk.ahead + duration <= Self.burst else {
            talk.dropped += 1
            return .dropped
        }
        talk.sequence = sequence
        talk.ahead += duration
        return present == nil ? .begun : .accepted
    }

    /// Sets whom the talk reaches; no effect without a speaker.
    public mutating func address(hosts: [String], unreachable: [String]) {
        talk?.hosts = hosts
        talk?.unreachable = unreachable
    }

    /// Ends the talk of a speaker; that of another one continues.
    public mutating func end(by speaker: Speaker) {
        if talk?.speaker == speaker { talk = nil }
    }
}

// No source system defines codes for these; the code is the HTTP status.

extension StageError {
    /// 409: one speaker at a time.
    public static func talkbackTaken(by identity: String) -> StageError {
        StageError(
            code: 409,
            name: "TalkbackTakenError",
            message: "\(identity) speaks to the hosts",
            cause: "One person at a time speaks to the hosts of a room",
            solution: "Wait until the other one has finished",
            status: 409
        )
    }

    /// 503: there is no mixer, which makes the return feeds.
    public static let talkbackUnavailable = StageError(
        code: 503,
        name: "TalkbackUnavailableError",
        message: "The hosts' return feeds are not made at present",
        cause: "The room has no program: no host is on stage, or its mixer is starting",
        solution: "Try again when a host is on stage",
        status: 503,
        isRetryable: true
    )
}
