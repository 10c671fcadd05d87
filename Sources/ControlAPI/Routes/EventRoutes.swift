import FootlightModel
import HTTPTypes
import Hummingbird
import Media
import Stage

/// Routes for event streams and custom events.
struct EventRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let answers: RoomAnswers
    let frames = EventFrameCache()
    let streams = ClientEventStreams()
    let access: EventStreamAccess

    func add(to api: APIRoutes) {
        api.stream("rooms/:room/events") { call in
            let room = try rooms.readableRoom(
                call,
                isBack: call.query("session_id") != nil || lastEventIDText(call) != nil
            )
            let reader = try reader(call, in: room)
            // An operator may follow any stream, but it keeps a session alive only for a participant it let in.
            let isAlive = reader.map { rooms.provesLiveness(call.claims, of: $0, in: room) } ?? false
            return try stream(to: call, of: room.sid) { () throws(StageError) in
                try rooms.directory.subscribe(
                    room: room.sid,
                    after: lastEventID(call),
                    participant: reader,
                    sessionID: isAlive ? call.query("session_id") : nil
                )
            }
        }

        // Custom events, such as applause, are not written to the audit log.
        api.postUnaudited("rooms/:room/events") { call in
            let room = try rooms.readableRoom(call)
            let sender = try sender(call.claims, in: room)
            let body = try await call.decode(SendEventBody.self)
            let event = try rooms.directory.send(
                CustomEvent(body, from: sender),
                to: room.sid,
                by: call.claims.identity
            )
            let context = EventContext(answers: answers, addresses: answers.addresses(for: call.request))
            return try APIResponse.json(EventResource(event, context: context), status: .accepted)
        }

        api.stream("events") { call in
            let identity = try identity(call)
            return try stream(to: call, of: nil) { () throws(StageError) in
                try rooms.directory.subscribe(identity: identity)
            }
        }
    }

    /// Returns the sender of a custom event: a participant of the room, or nil for a bearer that runs the show.
    ///
    /// - Throws: 20106 for a bearer that is neither, 3035 for one that has not joined, 3065.
    private func sender(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> CustomEvent.Sender? {
        if claims.role == .operator { return nil }
        let runsShow = claims.has(.participants, in: room) || claims.has(.streaming, in: room)
        do throws(StageError) {
            let participant = try rooms.bearer(claims, in: room)
            return CustomEvent.Sender(participantSID: participant.sid, identity: participant.identity)
        } catch {
            guard runsShow, error == .notJoined else { throw error }
            return nil
        }
    }

    /// Opens a stream of a room, or of an identity if the sid is nil.
    ///
    /// - Throws: 53006 if too many streams are open.
    private func stream(
        to call: APICall,
        of roomSID: String?,
        _ subscribe: () throws(StageError) -> EventSubscription
    ) throws(StageError) -> Response {
        if call.request.method == .head { return EventStream.head }
        let claims = call.claims
        // Mixers and operators are few and required for the show; only participants are limited.
        let owner =
            claims.role != .participant
            ? nil
            : ClientEventStreams.Owner(identity: claims.identity, bound: claims.room, roomSID: roomSID)
        if owner != nil { try streams.requireCapacity(within: rooms.directory.readerLimit) }
        let slot = try access.acquireSlot(call)
        let stream = streams.open(try subscribe(), owner: owner, slot: slot)
        stream.observe { access.observe(call, end: $0) }
        let context = EventContext(answers: answers, addresses: answers.addresses(for: call.request))
        return EventStream.response(to: call.request, stream: stream) { event in
            // The same identity may be another person in another room.
            if case .invitation(let change) = event.payload, !claims.isFor(change.invitation) { return nil }
            return try frames.frame(event, context: context)
        }
    }

    private func lastEventIDText(_ call: APICall) -> String? {
        call.request.headers[.lastEventID] ?? call.query("last_event_id")
    }

    private func lastEventID(_ call: APICall) -> UInt64? {
        lastEventIDText(call).flatMap { UInt64($0) }
    }

    /// Returns the participant whose stream is opened: the bearer itself, or any participant for an operator.
    private func reader(_ call: APICall, in room: RoomSummary) throws(StageError) -> String? {
        guard let reference = call.query("participant") else { return nil }
        if call.claims.role == .operator { return reference }
        guard call.claims.role == .participant else { throw .tokenGrantsInvalid }
        // A participant that left is known to the stage by its session only; the stage reports what became of it.
        let identity = (try? rooms.directory.participant(reference, in: room.sid))?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return reference
    }

    /// Returns the identity whose invitations are followed: the bearer's own, or any for an operator.
    private func identity(_ call: APICall) throws(StageError) -> String {
        let requested = call.query("identity") ?? ""
        switch call.claims.role {
        case .operator where requested.isEmpty: throw .invalidParameter("identity", "must be given")
        case .operator: return requested
        case .participant where requested == "me" || requested == call.claims.identity: return call.claims.identity
        case .participant, .mixer, .monitor, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }
}

/// The conditions under which a client may read event streams.
struct EventStreamAccess: Sendable {
    /// Limits the event streams of each client.
    let limiter: ClientLimiter
    /// The client account whose limits apply to a request.
    let client: @Sendable (HTTPFields) -> UInt64?
    /// Tells whether the login of a request has ended.
    let logout: ControlServices.LogoutCheck
    let revocations: TokenRevocations

    /// Returns a stream slot of the client; nil for operators and mixers, which are not limited.
    ///
    /// - Throws: 429 if the client has too many streams open.
    func acquireSlot(_ call: APICall) throws(StageError) -> ClientSlot? {
        switch call.claims.role {
        case .operator, .mixer: return nil
        case .participant, .monitor, .relay, .thumbnail: break
        }
        guard let slot = limiter.enter(client(call.request.headers)) else {
            throw .tooManyRequests(retryAfter: 5)
        }
        return slot
    }

    /// Returns a check, evaluated repeatedly, of whether the token of a running request is revoked or expired, or its
    /// login has ended.
    func isRefused(_ call: APICall) -> @Sendable () -> Bool {
        let hasLoggedOut = logout(call.request.headers)
        return { [revocations, claims = call.claims] in revocations.isOver(claims) || hasLoggedOut?() ?? false }
    }

    /// Ends a running request when its token is revoked or expires, or its login ends; that of a mixer outlives the
    /// expiry.
    func observe(_ call: APICall, end: @escaping @Sendable (StageError) -> Void) -> TokenObservation {
        revocations.observe(
            call.claims,
            outlivesToken: call.claims.role == .mixer,
            hasLoggedOut: logout(call.request.headers),
            end: end
        )
    }
}
