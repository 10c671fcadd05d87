import Synchronization

/// Asking to speak, and the answers.
extension RoomDirectory {
    /// Raises the hand of a participant of the audience; one that is up stays as it is.
    ///
    /// - Parameter timeout: Seconds until it goes down by itself.
    /// - Returns: The hand, and whether it was raised just now.
    /// - Throws: 53106; 53204; 3073 for the timeout; 3066 for a host; 429 for who does so again and again.
    public func raiseHand(
        room: String,
        participant: String,
        timeout: Int = Hand.usualTimeout
    ) throws(StageError) -> (hand: Hand, isNew: Bool) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.raiseHand(of: participant, timeout: timeout, at: now)
            }
        }
    }

    /// The hands that are up in a room, the one that was raised first at the beginning.
    ///
    /// - Throws: 53106.
    public func hands(in room: String) throws(StageError) -> [Hand] {
        try state.withLock { (state) throws(StageError) in try state.room(room).hands.hands }
    }

    /// Takes a hand down, by its sid or by the sid or the identity of its participant.
    ///
    /// - Throws: 53106; 404 where there is none.
    public func lowerHand(room: String, hand: String) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.lowerHand(hand, at: now) }
        }
    }

    /// Lets the participant of a hand come on stage, which permits a change of its mode once, as an accepted invitation
    /// does.
    ///
    /// - Parameter inviter: The identity of who accepts; whether it may is for the caller to know.
    /// - Throws: 53106; 404 where there is no such hand; 4010 for one host too many and 53006 where the machine has no
    ///   time for one, with which the hand stays up.
    public func acceptHand(room: String, hand: String, by inviter: String) throws(StageError) -> Hand {
        try change { (state, now) throws(StageError) in
            guard let participant = try state.room(room).hands[hand]?.participantSID else { throw .handNotFound }
            try state.requireProcessor(forHost: participant, in: room, at: now)
            return try state.change(room) { (room) throws(StageError) in
                try room.acceptHand(hand, by: inviter, at: now)
            }
        }
    }

    /// Turns the participant of a hand down, who may ask again.
    ///
    /// - Throws: 53106; 404 where there is no such hand.
    public func rejectHand(room: String, hand: String) throws(StageError) -> Hand {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.rejectHand(hand, at: now) }
        }
    }
}
