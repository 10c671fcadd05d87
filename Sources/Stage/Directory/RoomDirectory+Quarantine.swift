import Synchronization

/// Hosts whose media ended the mixer again and again.
extension RoomDirectory {
    /// Takes nothing of a host for some time, and tells those who follow the room why.
    ///
    /// Its present connection is not closed by this. A host who leaves and joins anew is another one.
    public func quarantine(room: String, participantSID: String, seconds: Double) {
        defer { deliver() }
        state.withLock { state in
            let now = clock.now
            // A room that is forgotten has nobody to keep out.
            _ = try? state.change(room) { $0.quarantine(participantSID, seconds: seconds, at: now) }
        }
    }

    /// Lets a host publish again before its time; one that is in no quarantine may anyway.
    ///
    /// - Throws: 53106, 53204.
    public func release(room: String, participant: String) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                try room.release(participant, at: now)
            }
        }
    }
}
