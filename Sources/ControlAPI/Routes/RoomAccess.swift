import Stage

/// Rooms and participants as a bearer may access them, and the checks and writes that most routes share.
struct RoomAccess: Sendable {
    let directory: RoomDirectory
    /// The error that refuses new work at this moment; nil if new work is accepted.
    let admission: @Sendable () -> StageError?
    /// Persists a room, by sid.
    let persist: @Sendable (_ roomSID: String) async throws -> Void
    /// Nil for a gateway that runs alone.
    let cluster: (any ClusterControlling)?
    let audit: AuditLog

    /// Returns the room that the path names.
    ///
    /// - Throws: 53106; 20106 for a token of another room, so that it does not reveal which rooms exist.
    func room(_ call: APICall) throws(StageError) -> RoomSummary {
        let reference = call.path("room")
        do {
            return try directory.summary(of: reference)
        } catch {
            throw call.claims.mayKnow(reference) ? error : .tokenGrantsInvalid
        }
    }

    /// Returns the room that the path names if it is in progress.
    ///
    /// - Parameter isBack: Whether the bearer claims to have been in the room; it then gets the error that the room has
    ///   ended.
    func liveRoom(_ call: APICall, isBack: Bool = false) throws(StageError) -> RoomSummary {
        do throws(StageError) {
            let room = try room(call)
            guard room.status == .inProgress else { throw .roomNotFound }
            return room
        } catch {
            throw isBack && error == .roomNotFound ? .roomGone : error
        }
    }

    /// Returns a room in progress that the bearer may read; see `liveRoom`.
    func readableRoom(_ call: APICall, isBack: Bool = false) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call, isBack: isBack)
        try call.claims.requireReading(room)
        return room
    }

    /// Returns a room in progress whose layout and recording the bearer may control.
    func streamingRoom(_ call: APICall) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call)
        try call.claims.require(.streaming, in: room)
        return room
    }

    /// Returns a room in progress whose livestream and HLS the bearer may control.
    func broadcastRoom(_ call: APICall) throws(StageError) -> RoomSummary {
        let room = try liveRoom(call)
        try call.claims.requireStreaming(room)
        return room
    }

    /// Returns the participant that the path names.
    ///
    /// - Throws: 53204; 3035 if the bearer names itself and is not in the room.
    func participant(_ call: APICall, in room: RoomSummary) throws(StageError) -> ParticipantView {
        let reference = call.path("participant")
        do {
            return try directory.participant(reference, in: room.sid)
        } catch {
            throw call.claims.role == .participant && reference == call.claims.identity ? .notJoined : error
        }
    }

    /// Returns the participant of a command; a bearer whose own connection is lost is refused (V20).
    ///
    /// - Throws: As `participant`, and 3065.
    func commandedParticipant(_ call: APICall, in room: RoomSummary) throws(StageError) -> ParticipantView {
        let participant = try participant(call, in: room)
        if call.claims.isSelf(participant, in: room) {
            try directory.requireReady(room: room.sid, participant: participant.sid)
        }
        return participant
    }

    /// Returns the bearer as a connected participant of the room.
    ///
    /// - Throws: 20106 for a bearer that is not a participant, 3035 for one that has not joined, 3065.
    func bearer(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> ParticipantView {
        guard claims.role == .participant, claims.isFor(room) else { throw .tokenGrantsInvalid }
        guard let found = try? directory.participant(claims.identity, in: room.sid), claims.isSelf(found, in: room)
        else { throw .notJoined }
        try directory.requireReady(room: room.sid, participant: found.sid)
        return found
    }

    /// Refuses new work while the gateway accepts none.
    func admit() throws(StageError) {
        if let refusal = admission() { throw refusal }
    }

    /// Refuses work that starts a program while the gateway accepts none, or while the CPU has no capacity for one
    /// more.
    func admitProgram(of room: some NamedRoom) throws(StageError) {
        try admit()
        try directory.requireProcessor(forProgramIn: room.sid)
    }

    /// Claims the name of a new room or show among the gateways of the cluster; one that is not valid is refused later.
    ///
    /// - Throws: 53113 if another gateway has it, 53443.
    func claim(_ name: String) async throws(StageError) {
        guard let cluster, NameRule.check(name) == nil else { return }
        try await cluster.claim(name)
    }

    /// Persists a changed room.
    ///
    /// A failure does not fail the command: the show continues, and the store reports the failure.
    func save(_ room: some NamedRoom) async {
        do {
            try await persist(room.sid)
        } catch {
            audit.notPersisted(room, error)
        }
    }

    /// Persists a new room, and ends it if that fails, because a restart would lose it.
    ///
    /// - Throws: 53103.
    func saveNew(_ room: RoomView) async throws(StageError) {
        do {
            try await persist(room.sid)
        } catch {
            audit.notPersisted(room, error)
            try directory.end(room: room.sid)
            throw .roomCreationFailed
        }
        await cluster?.announce(room.sid)
    }

    /// Requires the right to invite: the right over participants, or being a host.
    func requireInviting(_ claims: AccessClaims, to room: RoomSummary) throws(StageError) {
        if claims.has(.participants, in: room) { return }
        guard try bearer(claims, in: room).mode == .sendAndReceive else { throw .tokenGrantsInvalid }
    }

    /// Whether a session request of the bearer proves that the participant is alive.
    ///
    /// An operator may keep the session of a participant it let in. A host without a session may be a bare encoder, and
    /// must not need heartbeats from then on because of one request of an operator.
    func provesLiveness(_ claims: AccessClaims, of participant: String, in room: RoomSummary) -> Bool {
        guard claims.role == .operator else { return true }
        // The stage reports what became of the session of a participant that left.
        guard let found = try? directory.participant(participant, in: room.sid) else { return true }
        return found.mode != .sendAndReceive || directory.hasSession(room: room.sid, participant: found.sid)
    }
}

extension ParticipantMode {
    /// Returns the mode that a request names.
    static func named(_ name: some StringProtocol) throws(StageError) -> ParticipantMode {
        guard let mode = ParticipantMode(wireName: String(name)) else { throw StageError.unknownMode }
        return mode
    }
}
