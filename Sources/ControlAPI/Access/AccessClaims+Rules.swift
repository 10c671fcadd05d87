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
    func requireFigures(of room: some NamedRoom) throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where isFor(room): return
        case .participant where isFor(room) && administers.contains(Right.streaming.rawValue): return
        case .monitor, .participant, .mixer: throw .tokenGrantsInvalid
        }
    }

    /// Reading a room, its participants, its layout and its events.
    func requireReading(_ room: some NamedRoom) throws(StageError) {
        guard role == .operator || isFor(room) else { throw .tokenGrantsInvalid }
    }

    /// The livestream and the layout, or making others step down and leave.
    func require(_ right: Right, in room: some NamedRoom) throws(StageError) {
        guard has(right, in: room) else { throw .tokenGrantsInvalid }
    }

    /// Whether the bearer has a right in `room`.
    func has(_ right: Right, in room: some NamedRoom) -> Bool {
        if role == .operator { return true }
        return role == .participant && isFor(room) && administers.contains(right.rawValue)
    }

    /// Joining a room, by its unique name or sid, as `identity`; in which mode is another question.
    func requireJoining(_ room: String, sid: String?, as identity: String) throws(StageError) {
        if role == .operator { return }
        guard role == .participant, identity == self.identity, let bound = self.room, bound == room || bound == sid
        else { throw .tokenGrantsInvalid }
    }

    /// Telling what the mixer hears and sees.
    func requireMixing(_ room: some NamedRoom) throws(StageError) {
        guard role == .mixer, isFor(room) else { throw .tokenGrantsInvalid }
    }

    /// The tracks that the bearer may publish once it is a host.
    ///
    /// A token that makes hosts names their tracks. One that does not could not have named any; who becomes a host by
    /// an invitation all the same may publish all, for whoever invited wanted a host.
    var publishable: Set<TrackName> {
        role == .participant && modes.contains(.sendAndReceive) ? sources : Set(TrackName.allCases)
    }

    /// Whether the bearer is this very participant.
    func isSelf(_ participant: ParticipantView, in room: some NamedRoom) -> Bool {
        role == .participant && isFor(room) && participant.identity == identity
    }

    /// Whether the token is good for `room`; a room bound by name is meant whichever run of it there is.
    func isFor(_ room: some NamedRoom) -> Bool {
        guard let bound = self.room else { return role == .operator || role == .monitor }
        return bound == room.name || bound == room.sid
    }

    /// Whether the bearer may know that there is no room of this name.
    func mayKnowOf(_ reference: String) -> Bool {
        guard let bound = room else { return role == .operator || role == .monitor }
        return bound == reference
    }
}
