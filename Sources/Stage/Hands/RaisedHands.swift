/// The hands that are up in one room, at most one of each participant.
///
/// Pure rules: time is passed in, in seconds since 1970.
struct RaisedHands: Sendable, Equatable, Codable {
    /// The one that was raised first comes first.
    private(set) var hands: [Hand] = []

    /// A hand by its sid, or by the sid or the identity of its participant.
    ///
    /// Sids first: somebody who is named like the sid of another must not stand before it.
    subscript(reference: String) -> Hand? {
        hands.first { $0.sid == reference || $0.participantSID == reference }
            ?? hands.first { $0.identity == reference }
    }

    /// The hand of a participant, by the participant's sid alone.
    func hand(of participantSID: String) -> Hand? {
        hands.first { $0.participantSID == participantSID }
    }

    /// Raises the hand of a participant who has none up.
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

    /// Takes a hand down.
    mutating func remove(_ hand: Hand) {
        hands.removeAll { $0.sid == hand.sid }
    }

    /// Takes the hands down whose time is over.
    mutating func expire(at now: Double) -> [Hand] {
        guard hands.contains(where: { $0.expiresAt <= now }) else { return [] }
        let expired = hands.filter { $0.expiresAt <= now }
        hands.removeAll { $0.expiresAt <= now }
        return expired
    }
}
