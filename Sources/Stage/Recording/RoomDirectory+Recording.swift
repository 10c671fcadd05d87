/// Recordings as the stage knows them: whether a room is to be recorded, and the news of it.
extension RoomDirectory {
    /// Notes whether a room is to be recorded whenever its program is on, which outlives the process.
    ///
    /// Events: `room.updated` when that is a change.
    ///
    /// - Throws: 53106.
    public func setRecorded(room: String, _ isRecorded: Bool) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in try room.setRecorded(isRecorded, at: now) }
        }
    }

    /// Tells those who follow a room how its recording is doing.
    public func recordingChanged(room: String, _ status: RecordingStatus) {
        announce(.recordingStateChanged(status), room: room)
    }

    /// Tells those who follow a room that a file has ended, and the next one has begun.
    public func recordingRotated(room: String, _ status: RecordingStatus) {
        announce(.recordingRotated(status), room: room)
    }

    /// Tells those who follow a room why its recording has ended by itself.
    public func recordingFailed(room: String, _ error: StageError) {
        announce(.recordingFailed(error), room: room)
    }
}

extension Room {
    fileprivate mutating func setRecorded(_ isRecorded: Bool, at now: Double) throws(StageError) {
        guard status == .inProgress else { throw .roomNotFound }
        guard settings.isRecorded != isRecorded else { return }
        settings.isRecorded = isRecorded
        emit(.roomUpdated(view), at: now)
    }
}
