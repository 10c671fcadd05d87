import Synchronization

/// A raised hand: a request of an audience member to speak.
public struct Hand: Sendable, Hashable, Codable {
    /// `HA` and 32 hexadecimal digits.
    public let sid: String
    /// The sid of the requesting participant.
    public let participantSID: String
    /// The participant's identity.
    public let identity: String
    /// Seconds since 1970.
    public let raisedAt: Double
    /// The expiry in seconds since 1970.
    public let expiresAt: Double

    /// The range of the timeout, in seconds.
    public static let timeoutRange = 10...3600
    /// The default timeout, in seconds.
    public static let defaultTimeout = 300
}

/// A change of a raised hand.
public struct HandChange: Sendable, Hashable {
    /// The kind of the change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case raised
        /// Lowered without an answer.
        case lowered
        /// The participant may come on stage.
        case accepted
        case rejected
        /// The timeout has passed.
        case expired
    }

    /// The reason for lowering a hand without an answer.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// By the participant, or by an operator.
        case lowered
        /// The participant left the room.
        case left
        /// The participant became a host, or accepted an invitation to be one.
        case onStage = "on_stage"
    }

    /// The kind of the change.
    public var kind: Kind
    /// The hand.
    public var hand: Hand
    /// The reason; nil unless lowered.
    public var reason: Reason?
}

/// The raised hands of one room, at most one per participant.
///
/// Pure rules: the time is passed in, in seconds since 1970.
struct RaisedHands: Sendable, Equatable, Codable {
    /// In order of raising.
    private(set) var hands: [Hand] = []

    /// Returns a hand by its sid, or by the sid or the identity of its participant.
    ///
    /// Sids have precedence: an identity equal to another participant's sid must not hide that participant.
    subscript(reference: String) -> Hand? {
        hands.first { $0.sid == reference || $0.participantSID == reference }
            ?? hands.first { $0.identity == reference }
    }

    /// Returns the hand of a participant, by the participant's sid alone.
    func hand(of participantSID: String) -> Hand? {
        hands.first { $0.participantSID == participantSID }
    }

    /// Raises the hand of a participant without a raised hand.
    mutating func raise(by participant: String, identity: String, timeout: Int, at now: Double) -> Hand {
        let hand = Hand(
            sid: StageIdentifier.make("HA"),
            participantSID: participant,
            identity: identity,
            raisedAt: now,
            expiresAt: now + Double(timeout)
        )
        hands.append(hand)
        return hand
    }

    /// Removes a hand.
    mutating func remove(_ hand: Hand) {
        hands.removeAll { $0.sid == hand.sid }
    }

    /// Removes expired hands.
    mutating func expire(at now: Double) -> [Hand] {
        guard hands.contains(where: { $0.expiresAt <= now }) else { return [] }
        let expired = hands.filter { $0.expiresAt <= now }
        hands.removeAll { $0.expiresAt <= now }
        return expired
    }
}

/// Raised hands, by command and by timeout.
extension Room {
    /// Raises a participant's hand; a raised hand stays unchanged.
    ///
    /// Events: `hand.raised`, unless it was raised already.
    ///
    /// - Returns: The hand, and whether it is new.
    /// - Throws: 53106; 53204; 3073 for the timeout; 3066 for a host; 429 when rate limited.
    mutating func raiseHand(
        of reference: String,
        timeout: Int,
        at now: Double
    ) throws(StageError) -> (hand: Hand, isNew: Bool) {
        let participant = participants[try existing(reference)]
        try StageError.check(timeout, in: Hand.timeoutRange, field: "timeout")
        guard !participant.isHost else { throw .hostCannotRaiseHand }
        if let hand = hands.hand(of: participant.sid) { return (hand, false) }
        try senderLimiter.admit(participant.identity, isParticipant: true, at: now)
        let raised = hands.raise(by: participant.sid, identity: participant.identity, timeout: timeout, at: now)
        emit(.hand(HandChange(kind: .raised, hand: raised)), at: now)
        return (raised, true)
    }

    /// Lowers a hand.
    ///
    /// Events: `hand.lowered`.
    ///
    /// - Throws: 53106; 404 without such a hand.
    mutating func lowerHand(_ reference: String, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard let hand = hands[reference] else { throw .handNotFound }
        drop(hand, reason: .lowered, at: now)
    }

    /// Accepts a hand: permits the participant to become a host once, within a limited time, as an invitation does.
    ///
    /// Events: `hand.accepted`.
    ///
    /// - Parameter inviter: The identity that accepts.
    /// - Throws: 53106; 404 without such a hand; 4010 at the maximum of hosts, and the hand stays raised.
    mutating func acceptHand(_ reference: String, by inviter: String, at now: Double) throws(StageError) -> Hand {
        guard status == .inProgress else { throw .roomNotFound }
        guard let hand = hands[reference] else { throw .handNotFound }
        guard counts.hosts < settings.maximumHosts else { throw .tooManyHosts }
        hands.remove(hand)
        invitations.grant(
            .sendAndReceive,
            to: hand.identity,
            by: inviter,
            roomSID: sid,
            roomName: settings.name,
            at: now
        )
        emit(.hand(HandChange(kind: .accepted, hand: hand)), at: now)
        return hand
    }

    /// Rejects a hand; its participant may raise it again.
    ///
    /// Events: `hand.rejected`.
    ///
    /// - Throws: 53106; 404 without such a hand.
    mutating func rejectHand(_ reference: String, at now: Double) throws(StageError) -> Hand {
        guard status == .inProgress else { throw .roomNotFound }
        guard let hand = hands[reference] else { throw .handNotFound }
        hands.remove(hand)
        emit(.hand(HandChange(kind: .rejected, hand: hand)), at: now)
        return hand
    }

    /// Lowers the hand of a participant, if raised.
    ///
    /// Events: `hand.lowered`.
    mutating func removeHand(of participantSID: String, reason: HandChange.Reason, at now: Double) {
        if let hand = hands.hand(of: participantSID) { drop(hand, reason: reason, at: now) }
    }

    private mutating func drop(_ hand: Hand, reason: HandChange.Reason, at now: Double) {
        hands.remove(hand)
        emit(.hand(HandChange(kind: .lowered, hand: hand, reason: reason)), at: now)
    }

    /// Removes expired hands.
    ///
    /// Events: `hand.expired`.
    mutating func expireHands(at now: Double) {
        for hand in hands.expire(at: now) { emit(.hand(HandChange(kind: .expired, hand: hand)), at: now) }
    }
}

/// Raised hands, and their answers.
extension RoomDirectory {
    /// Raises the hand of an audience member; a raised hand stays unchanged.
    ///
    /// - Parameter timeout: Seconds until the hand expires.
    /// - Returns: The hand, and whether it is new.
    /// - Throws: 53106; 53204; 3073 for the timeout; 3066 for a host; 429 when rate limited.
    public func raiseHand(
        room: String,
        participant: String,
        timeout: Int = Hand.defaultTimeout
    ) throws(StageError) -> (hand: Hand, isNew: Bool) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.raiseHand(of: participant, timeout: timeout, at: now)
            }
        }
    }

    /// Returns the raised hands of a room, in order of raising.
    ///
    /// - Throws: 53106.
    public func hands(in room: String) throws(StageError) -> [Hand] {
        try state.withLock { (state) throws(StageError) in try state.room(room).hands.hands }
    }

    /// Lowers a hand, by its sid or by the sid or the identity of its participant.
    ///
    /// - Throws: 53106; 404 without such a hand.
    public func lowerHand(room: String, hand: String) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.lowerHand(hand, at: now) }
        }
    }

    /// Accepts a hand, which permits a change to host mode once, as an accepted invitation does.
    ///
    /// - Parameter inviter: The identity that accepts; the caller checks its permission.
    /// - Throws: 53106; 404 without such a hand; 4010 at the maximum of hosts and 53006 beyond the processor budget;
    ///   the hand then stays raised.
    public func acceptHand(room: String, hand: String, by inviter: String) throws(StageError) -> Hand {
        try change { (state, now) throws(StageError) in
            guard let participant = try state.room(room).hands[hand]?.participantSID else { throw .handNotFound }
            try state.requireProcessor(forHost: participant, in: room, at: now)
            return try state.change(room) { (room) throws(StageError) in
                try room.acceptHand(hand, by: inviter, at: now)
            }
        }
    }

    /// Rejects a hand; its participant may raise it again.
    ///
    /// - Throws: 53106; 404 without such a hand.
    public func rejectHand(room: String, hand: String) throws(StageError) -> Hand {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.rejectHand(hand, at: now) }
        }
    }
}

extension StageError {
    /// 404: the hand is not raised; the code is the HTTP status, because no source system defines one.
    public static let handNotFound = StageError(
        code: 404,
        name: "HandNotFoundError",
        message: "No such hand is raised",
        cause: "It was lowered or answered, its time is over, or its participant left or is on stage",
        solution: "List the raised hands",
        status: 404
    )
    /// 3066: the participant is a host already.
    public static let hostCannotRaiseHand = StageError(
        code: 3066,
        name: "ACTION_NOT_ALLOWED_IN_MODE",
        message: "A host need not ask to speak",
        cause: "Only participants in mode RECV_ONLY and SIGNALLING_ONLY raise a hand",
        solution: "Publish a track",
        status: 403
    )
}
