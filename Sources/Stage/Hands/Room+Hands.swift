/// Asking to speak, by command and by time.
extension Room {
    /// Raises a participant's hand; one that is up stays as it is.
    ///
    /// Events: `hand.raised`, unless it was up.
    ///
    /// - Returns: The hand, and whether it was raised just now.
    /// - Throws: 53106; 53204; 3073 for the timeout; 3066 for a host; 429 for who does so again and again.
    mutating func raiseHand(
        of reference: String,
        timeout: Int,
        at now: Double
    ) throws(StageError) -> (hand: Hand, isNew: Bool) {
        let participant = participants[try existing(reference)]
        try StageError.check(timeout, in: Hand.timeouts, field: "timeout")
        guard !participant.isHost else { throw .hostsNeedNoHand }
        if let hand = hands.hand(of: participant.sid) { return (hand, false) }
        try senders.admit(participant.identity, isParticipant: true, at: now)
        let raised = hands.raise(by: participant.sid, identity: participant.identity, timeout: timeout, at: now)
        emit(.hand(HandChange(kind: .raised, hand: raised)), at: now)
        return (raised, true)
    }

    /// Takes a hand down.
    ///
    /// Events: `hand.lowered`.
    ///
    /// - Throws: 53106; 404 where there is none.
    mutating func lowerHand(_ reference: String, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard let hand = hands[reference] else { throw .handNotFound }
        drop(hand, reason: .lowered, at: now)
    }

    /// Lets the participant of a hand come on stage: permits the mode once, and soon, as an accepted invitation does.
    ///
    /// Events: `hand.accepted`.
    ///
    /// - Parameter inviter: The identity of who accepts.
    /// - Throws: 53106; 404 where there is no such hand; 4010 for one host too many, and the hand stays up.
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

    /// Turns the participant of a hand down, who may ask again.
    ///
    /// Events: `hand.rejected`.
    ///
    /// - Throws: 53106; 404 where there is no such hand.
    mutating func rejectHand(_ reference: String, at now: Double) throws(StageError) -> Hand {
        guard status == .inProgress else { throw .roomNotFound }
        guard let hand = hands[reference] else { throw .handNotFound }
        hands.remove(hand)
        emit(.hand(HandChange(kind: .rejected, hand: hand)), at: now)
        return hand
    }

    /// Takes the hand of a participant down, if it is up.
    ///
    /// Events: `hand.lowered`.
    mutating func dropHand(of participantSID: String, reason: HandChange.Reason, at now: Double) {
        if let hand = hands.hand(of: participantSID) { drop(hand, reason: reason, at: now) }
    }

    private mutating func drop(_ hand: Hand, reason: HandChange.Reason, at now: Double) {
        hands.remove(hand)
        emit(.hand(HandChange(kind: .lowered, hand: hand, reason: reason)), at: now)
    }

    /// Takes the hands down that nobody answered in time.
    ///
    /// Events: `hand.expired`.
    mutating func expireHands(at now: Double) {
        for hand in hands.expire(at: now) { emit(.hand(HandChange(kind: .expired, hand: hand)), at: now) }
    }
}
