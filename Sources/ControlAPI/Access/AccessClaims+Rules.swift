import Stage

/// Who may do what. Everything not allowed here is denied with 20106.
extension AccessClaims {
    /// A right that `administers` can name.
    enum Right: String {
        case streaming
        case participants
    }

    /// Rooms as a whole: create, end.
    func requireOperator() throws(StageError) {
        guard role == .operator else { throw .tokenGrantsInvalid }
    }

    /// Lists of rooms and viewing figures.
    func requireOversight() throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where room == nil: return
        case .monitor, .participant, .mixer: throw .tokenGrantsInvalid
        }
    }

    /// Viewing figures of one room.
    func requireFigures(of room: RoomView) throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where isFor(room): return
        case .participant where isFor(room) && administers.contains(Right.streaming.rawValue): return
        case .monitor, .participant, .mixer: throw .tokenGrantsInvalid
        }
    }

    /// Reading a room, its participants, its layout and its events.
    func requireReading(_ room: RoomView) throws(StageError) {
        guard role == .operator || isFor(room) else { throw .tokenGrantsInvalid }
    }

    /// The livestream, and removing others.
    func require(_ right: Right, in room: RoomView) throws(StageError) {
        if role == .operator { return }
        guard role == .participant, isFor(room), administers.contains(right.rawValue) else { throw .tokenGrantsInvalid }
    }

    /// Joining as `identity` in `mode`.
    func requireJoining(_ room: RoomView, as identity: String, in mode: ParticipantMode) throws(StageError) {
        if role == .operator { return }
        guard role == .participant, isFor(room), identity == self.identity, modes.contains(mode) else {
            throw .tokenGrantsInvalid
        }
    }

    /// Whether the bearer is this very participant.
    func isSelf(_ participant: ParticipantView, in room: RoomView) -> Bool {
        role == .participant && isFor(room) && participant.identity == identity
    }

    /// Whether the token is good for `room`; a room bound by name is meant whichever run of it there is.
    func isFor(_ room: RoomView) -> Bool {
        guard let bound = self.room else { return role == .operator || role == .monitor }
        return bound == room.name || bound == room.sid
    }

    /// Whether the bearer may know that there is no room of this name.
    func mayKnowOf(_ reference: String) -> Bool {
        guard let bound = room else { return role == .operator || role == .monitor }
        return bound == reference
    }
}
