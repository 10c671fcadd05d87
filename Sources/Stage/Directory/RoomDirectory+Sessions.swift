import Synchronization

/// Signs of life of participants.
extension RoomDirectory {
    /// A client says that it is there; one that was lost is back.
    ///
    /// - Parameter audioLevel: The microphone in dBFS as the client measures it; counts while no mixer knows better.
    /// - Throws: 53106, 53204, 53002 (410) for a session that is over, 53205 for one whose identity somebody took,
    ///   1002 for one that was taken out.
    public func heartbeat(
        room: String,
        participant: String,
        sessionID: String,
        audioLevel: Double? = nil
    ) throws(StageError) {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let index = try room.index(of: participant, sessionID: sessionID)
                room.heartbeat(at: index, audioLevel: audioLevel, now: now)
            }
        }
    }

    /// A client is back after a loss, with the session it had; the events it missed it gets from `subscribe`.
    ///
    /// - Returns: As for a join, without keys: it has them.
    /// - Throws: 53106, 53204, 53002 (410) for a session that is over, 53205 for one whose identity somebody took,
    ///   1002 for one that was taken out.
    public func reconnect(room: String, participant: String, sessionID: String) throws(StageError) -> JoinResult {
        try change { (state, now) throws(StageError) in
            try state.change(room) { (room) throws(StageError) in
                let index = try room.index(of: participant, sessionID: sessionID)
                room.heartbeat(at: index, now: now)
                let participant = room.participants[index]
                return JoinResult(
                    participant: room.view(of: participant),
                    sessionID: participant.sessionID,
                    callSettings: participant.callSettings,
                    credentials: nil,
                    room: room.view
                )
            }
        }
    }

    /// Whether a participant can give commands now.
    ///
    /// - Throws: 53106; 53204; 3065 while its connection is lost. An encoder and nothing else has no connection to lose.
    public func requireReady(room: String, participant: String) throws(StageError) {
        try state.withLock { (state) throws(StageError) in
            try state.room(room).requireReady(participant)
        }
    }

    /// Whether the machine has time for a room's program, where none runs yet.
    ///
    /// - Throws: 53106; 53006, with the seconds after which to ask again.
    public func requireProcessor(forProgramIn room: String) throws(StageError) {
        let now = clock.now
        try state.withLock { (state) throws(StageError) in
            try state.requireProcessor(forProgramOf: state.room(room), at: now)
        }
    }
}
