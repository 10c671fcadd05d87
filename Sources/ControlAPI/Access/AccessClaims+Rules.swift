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
        case .monitor, .participant, .mixer, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }

    /// Viewing figures of one room.
    func requireFigures(of room: some NamedRoom) throws(StageError) {
        switch role {
        case .operator: return
        case .monitor where isFor(room): return
        case .participant where isFor(room) && administers.contains(Right.streaming.rawValue): return
        case .monitor, .participant, .mixer, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }

    /// Telling who watched the program elsewhere.
    func requireTelling() throws(StageError) {
        guard role == .operator || role == .relay else { throw .tokenGrantsInvalid }
    }

    /// Reading a room, its participants, its layout and its events.
    func requireReading(_ room: some NamedRoom) throws(StageError) {
        switch role {
        case .operator: return
        case .participant, .mixer, .monitor:
            guard isFor(room) else { throw .tokenGrantsInvalid }
        case .relay, .thumbnail: throw .tokenGrantsInvalid
        }
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

    /// Joining a room as `identity`; in which mode is another question.
    ///
    /// - Parameters:
    ///   - reference: How the room is named, by unique name or sid.
    ///   - room: The room in progress that is meant; nil while there is none. A token that is bound to a sid is for that
    ///     run alone, and makes no new one of the same name.
    func requireJoining(_ reference: String, _ room: RoomSummary?, as identity: String) throws(StageError) {
        if role == .operator { return }
        let isMeant = room.map { isFor($0) } ?? (self.room == reference)
        guard role == .participant, identity == self.identity, isMeant else { throw .tokenGrantsInvalid }
    }

    /// The modes that the bearer may take in a room by itself, the preferred one first.
    ///
    /// Where nobody speaks by a token alone, who could is one of the audience.
    ///
    /// - Parameters:
    ///   - room: The room in progress; nil while there is none.
    ///   - isHost: The bearer is on stage there already.
    func modes(in room: RoomSummary?, isHost: Bool = false) -> [ParticipantMode] {
        guard let room, room.type.needsPermissionToSpeak, !isHost, !has(.participants, in: room) else { return modes }
        return modes.map { $0 == .sendAndReceive ? .receiveOnly : $0 }
    }

    /// Starting and stopping the livestream and HLS.
    func requireStreaming(_ room: RoomSummary) throws(StageError) {
        try require(.streaming, in: room)
        if room.type.isStreamedByOperators, role != .operator { throw .streamingNeedsOperator }
    }

    /// Reading the pictures and sounds that the room's program is made with.
    func requireAssets(of room: some NamedRoom) throws(StageError) {
        if role == .operator { return }
        try requireMixing(room)
    }

    /// Telling what the mixer hears and sees.
    func requireMixing(_ room: some NamedRoom) throws(StageError) {
        guard role == .mixer, isFor(room) else { throw .tokenGrantsInvalid }
    }

    /// The tracks that somebody may publish who becomes a host.
    ///
    /// - Parameter byInvitation: Whoever invites wants a host, so that all tracks are allowed whatever the token names.
    func publishable(byInvitation: Bool) -> Set<TrackName> {
        byInvitation || role == .operator ? Set(TrackName.allCases) : sources
    }

    /// Whether the bearer is this very participant.
    func isSelf(_ participant: ParticipantView, in room: some NamedRoom) -> Bool {
        role == .participant && isFor(room) && participant.identity == identity
    }

    /// Whether the token is good for `room`; a room bound by name is meant whichever run of it there is.
    func isFor(_ room: some NamedRoom) -> Bool {
        isFor(room: room.name, sid: room.sid)
    }

    /// Whether an invitation is to a room that the token is for.
    func isFor(_ invitation: Invitation) -> Bool {
        isFor(room: invitation.roomName, sid: invitation.roomSID)
    }

    private func isFor(room name: String, sid: String) -> Bool {
        guard let bound = room else { return mayBeUnbound }
        return bound == name || bound == sid
    }

    /// Whether the bearer may know that there is no room of this name.
    func mayKnowOf(_ reference: String) -> Bool {
        guard let bound = room else { return mayBeUnbound }
        return bound == reference
    }

    /// Without a room the token is for all of them.
    private var mayBeUnbound: Bool {
        switch role {
        case .operator, .monitor, .relay, .thumbnail: true
        case .participant, .mixer: false
        }
    }
}
