import Synchronization

/// Pins: of the stage for everybody, of a participant for its own view.
extension RoomDirectory {
    /// Pins a host; the same pin again changes nothing.
    ///
    /// - Parameters:
    ///   - participant: The host's sid or identity.
    ///   - owner: The stage, or the participant (by sid or identity) whose view it is for.
    /// - Throws: 53106; 53204 for an unknown host or viewer; 3066 for somebody who is no host.
    @discardableResult
    public func pin(
        room: String,
        participant: String,
        type: PinType,
        by owner: PinOwner
    ) throws(StageError) -> Pin {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.pin(participant, type, by: owner, at: now)
            }
        }
    }

    /// Takes a pin away; one that is not there is fine.
    ///
    /// - Throws: 53106, 53204.
    public func unpin(room: String, participant: String, by owner: PinOwner) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.unpin(participant, by: owner, at: now)
            }
        }
    }

    /// The pins of a room: those for everybody first, then those of one viewer, the newest first of each.
    ///
    /// - Parameter viewer: A participant by sid or identity; nil for what the program follows.
    /// - Throws: 53106, 53204.
    public func pins(room: String, seenBy viewer: String? = nil) throws(StageError) -> [Pin] {
        try state.withLock { (state) throws(StageError) in
            let room = try state.room(room)
            guard let viewer else { return room.pins.program }
            guard let index = room.index(of: viewer) else { throw .participantNotFound }
            return room.pins.pins(seenBy: room.participants[index].sid)
        }
    }
}
