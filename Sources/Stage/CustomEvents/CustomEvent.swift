import Media

/// An application-defined event for all readers of a room, such as a reaction.
public struct CustomEvent: Sendable, Hashable {
    /// The participant that sends the event.
    public struct Sender: Sendable, Hashable {
        /// `PA` and 32 hexadecimal digits.
        public let participantSID: String
        /// The participant's identity.
        public let identity: String

        /// Creates a sender.
        public init(participantSID: String, identity: String) {
            self.participantSID = participantSID
            self.identity = identity
        }
    }

    /// The type, `[A-Za-z0-9._-]{1,64}`.
    public let type: String
    /// The payload: a JSON object in its canonical text, up to 4 KiB.
    public let data: String
    /// The sending participant; nil for an operator.
    public let sender: Sender?

    /// Creates an event; the values are validated when it is sent.
    public init(type: String, data: String = CustomEvent.emptyData, sender: Sender? = nil) {
        self.type = type
        self.data = data
        self.sender = sender
    }

    /// The type of a reaction.
    public static let reaction = "reaction"
    /// An empty payload.
    public static let emptyData = "{}"
    /// The maximum length of a type, in characters.
    static let maximumTypeLength = 64
    /// The maximum size of the payload, in bytes of its text.
    public static let maximumDataSize = 4096

    /// Validates the type and the payload's size.
    ///
    /// - Throws: 3073 naming the field.
    func validate() throws(StageError) {
        let isType = (1...Self.maximumTypeLength).contains(type.utf8.count) && type.utf8.allSatisfy(Self.isAllowed)
        guard isType else {
            throw .invalidParameter(
                "type",
                "must have 1 to \(Self.maximumTypeLength) characters of A-Z, a-z, 0-9, ., _ and -"
            )
        }
        guard data.utf8.first == UInt8(ascii: "{"), data.utf8.last == UInt8(ascii: "}") else {
            throw .invalidParameter("data", "must be a JSON object")
        }
        guard data.utf8.count <= Self.maximumDataSize else {
            throw .invalidParameter("data", "must have at most \(Self.maximumDataSize) bytes")
        }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || NameRule.isAllowed(byte)
    }
}

/// Rate limits of custom events in one room: per sender, and of all participants together.
///
/// Every reader of a room receives each event, so the rate of all participants is bounded. Operators have only the
/// limit per sender.
struct SenderRateLimiter: Sendable {
    /// The sustained rate per second and the burst of one sender.
    static let perSender = (perSecond: 5.0, burst: 10.0)
    /// The same of all participants of a room together.
    static let perRoom = (perSecond: 50.0, burst: 100.0)

    private var senderLimiter = RateLimiter<String>(perSecond: Self.perSender.perSecond, burst: Self.perSender.burst)
    private var participants = RateLimiter<Int>(
        perSecond: Self.perRoom.perSecond,
        burst: Self.perRoom.burst,
        capacity: 1
    )

    /// Records one event.
    ///
    /// - Parameters:
    ///   - sender: The sender's key; for an operator one that is not an identity.
    ///   - isParticipant: False for an operator.
    /// - Throws: 429.
    mutating func admit(_ sender: String, isParticipant: Bool, at now: Double) throws(StageError) {
        let time = MonotonicTime(nanoseconds: 0).advanced(seconds: now)
        guard senderLimiter.allowsRequest(from: sender, now: time) else { throw .tooManyEvents }
        guard isParticipant else { return }
        guard participants.allowsRequest(from: 0, now: time) else { throw .tooManyEvents }
    }
}

extension StageError {
    /// 429: too many events; the code is the HTTP status, because no source system defines one.
    public static let tooManyEvents = StageError(
        code: 429,
        name: "TooManyRequestsError",
        message: "Too many events are sent",
        cause: "The sender, or all participants of the room together, sent more events than they may",
        solution: "Send less often, and wait before the next event",
        status: 429,
        isRetryable: true,
        retryAfter: 1
    )
}

extension RoomDirectory {
    /// Sends an application-defined event to all readers of a room.
    ///
    /// The caller checks the sender's permission. Readers receive the event in the order of all events of the room; the
    /// replay buffer holds it like the others.
    ///
    /// - Parameter operatorName: The sender where no participant sends it; each has its own rate limit.
    /// - Returns: The event as readers receive it.
    /// - Throws: 53106; 3073 for the type or the data; 53204 for a sender that has left; 429 when rate limited.
    @discardableResult
    public func send(
        _ custom: CustomEvent,
        to room: String,
        by operatorName: String = ""
    ) throws(StageError) -> StageEvent {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.send(custom, by: operatorName, at: now) }
        }
    }
}

extension Room {
    /// Sends an application-defined event to all readers.
    ///
    /// Events: `custom.event`.
    mutating func send(_ custom: CustomEvent, by operatorName: String, at now: Double) throws(StageError) -> StageEvent
    {
        guard status == .inProgress else { throw .roomNotFound }
        try custom.validate()
        if let sender = custom.sender { _ = try existing(sender.participantSID) }
        // An identity never contains a colon.
        try senderLimiter.admit(
            custom.sender?.identity ?? "operator:\(operatorName)",
            isParticipant: custom.sender != nil,
            at: now
        )
        return emit(.custom(custom), at: now)
    }
}
