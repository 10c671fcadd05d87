import Synchronization

/// How loud everybody is.
extension RoomDirectory {
    /// Changes some of how a room's hosts are mixed; of two callers neither undoes what the other did.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - change: Called once with the settings there are; what it throws is thrown, and nothing changes.
    /// - Throws: 53106, or 3073 naming the field.
    @discardableResult
    public func setSound(
        room: String,
        _ change: (inout RoomSound) throws(StageError) -> Void
    ) throws(StageError) -> RoomSound {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var sound = room.settings.sound
                try change(&sound)
                try room.setSound(sound, at: now)
                return sound
            }
        }
    }

    /// Changes some of how one participant is mixed; of two callers neither undoes what the other did.
    ///
    /// - Parameters:
    ///   - room: Unique name or sid.
    ///   - participant: Sid or identity; the settings of somebody who is no host wait until then.
    ///   - change: Called once with the settings there are; what it throws is thrown, and nothing changes.
    /// - Throws: 53106, 53204, or 3073 naming the field.
    @discardableResult
    public func setSound(
        room: String,
        participant: String,
        _ change: (inout ParticipantSound) throws(StageError) -> Void
    ) throws(StageError) -> ParticipantView {
        try self.change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                var sound = room.participants[try room.existing(participant)].sound
                try change(&sound)
                return room.view(of: try room.setSound(of: participant, sound, at: now))
            }
        }
    }
}
