import Synchronization

/// Storing rooms, and finding them again.
extension RoomDirectory {
    /// Everything of a room that must outlive the process; nil when the room is forgotten.
    public func record(of room: String) -> RoomRecord? {
        state.withLock { state in
            guard let found = try? state.room(room) else { return nil }
            return found.record(keys: state.keyring.records(roomSID: found.sid))
        }
    }

    /// Takes up the rooms of an earlier life of the gateway, to be called before anybody is let in.
    ///
    /// Everybody who was in them is `reconnecting` and has the usual time to come back; hosts that are encoders and
    /// nothing else keep their places without limit. Keys open the stage as before, given the same pepper. A room whose
    /// name or sid is taken stays out, and so do all but the newest of several in progress with one name. Events: `room.created` for each room in progress.
    public func restore(_ records: [RoomRecord]) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            let inOrder = records.sorted {
                ($0.endedAt ?? .infinity, $0.createdAt) < ($1.endedAt ?? .infinity, $1.createdAt)
            }
            let superseded = RoomRecord.superseded(in: records)
            for record in inOrder where !superseded.contains(record.sid) { state.restore(record, at: now) }
        }
    }
}
