import GatewayModel
import HTTPTypes
import Hummingbird
import Media
import Stage

extension ControlRoutes {
    func addEvents(to api: APIRoutes) {
        api.stream("rooms/:room/events") { call in
            let room = try readableRoom(call, isBack: call.query("session_id") != nil || givenEventID(call) != nil)
            let reader = try reader(call, in: room)
            // Looking on is an operator's right; to keep somebody alive by it is not, but for whom it let in.
            let isSign = reader.map { givesSign(call.claims, of: $0, in: room) } ?? false
            return try stream(to: call, of: room.sid) { () throws(StageError) in
                try directory.subscribe(
                    room: room.sid,
                    after: lastEventID(call),
                    participant: reader,
                    sessionID: isSign ? call.query("session_id") : nil
                )
            }
        }

        // Applause has no place in the audit log.
        api.sign("rooms/:room/events") { call in
            let room = try readableRoom(call)
            let sender = try sender(call.claims, in: room)
            let body = try await call.request.decode(SendEventBody.self)
            let event = try directory.send(
                CustomEvent(body, from: sender),
                to: room.sid,
                by: call.claims.identity
            )
            let context = EventContext(routes: self, addresses: addresses(for: call.request))
            return try Reply.json(EventResource(event, context: context), status: .accepted)
        }

        api.stream("events") { call in
            let identity = try identity(call)
            return try stream(to: call, of: nil) { () throws(StageError) in
                try directory.subscribe(identity: identity)
            }
        }
    }

    /// Who has something told to a room: a participant of it; nil for one that runs the show without being in it.
    ///
    /// - Throws: 20106 for a bearer that is neither, 3035 for one that has not joined, 3065.
    private func sender(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> CustomEvent.Sender? {
        if claims.role == .operator { return nil }
        let runsShow = claims.has(.participants, in: room) || claims.has(.streaming, in: room)
        do throws(StageError) {
            let participant = try bearer(claims, in: room)
            return CustomEvent.Sender(participantSID: participant.sid, identity: participant.identity)
        } catch {
            guard runsShow, error == .notJoined else { throw error }
            return nil
        }
    }

    /// Opens a stream of a room, or with nil of an identity.
    ///
    /// - Throws: 53006 when too many are open.
    private func stream(
        to call: Call,
        of roomSID: String?,
        _ subscribe: () throws(StageError) -> EventSubscription
    ) throws(StageError) -> Response {
        let claims = call.claims
        // Mixers and operators are few, and the show hangs on them: only participants are counted.
        let owner =
            claims.role != .participant
            ? nil
            : OpenStreams.Owner(identity: claims.identity, bound: claims.room, roomSID: roomSID)
        if owner != nil { try streams.requirePlace(within: directory.readerLimit) }
        let place = try streamPlace(call)
        let stream = streams.open(try subscribe(), owner: owner, place: place)
        stream.endWithToken(claims, tokens.revocations)
        let context = EventContext(routes: self, addresses: addresses(for: call.request))
        return EventStream.response(to: call.request, stream: stream) { event in
            // The same identity may be somebody else in another room.
            if case .invitation(let change) = event.payload, !claims.isFor(change.invitation) { return nil }
            return try frames.frame(event, context: context)
        }
    }

    /// The place of a stream among its client's; nil for those who run the show, who are not counted.
    ///
    /// - Throws: 429 when the client has too many open.
    func streamPlace(_ call: Call) throws(StageError) -> ClientPlace? {
        switch call.claims.role {
        case .operator, .mixer: return nil
        case .participant, .monitor, .relay, .thumbnail: break
        }
        guard let place = clientStreams.enter(client(call.request.headers)) else {
            throw .tooManyRequests(retryAfter: 5)
        }
        return place
    }

    private func givenEventID(_ call: Call) -> String? {
        call.request.headers[.lastEventID] ?? call.query("last_event_id")
    }

    private func lastEventID(_ call: Call) -> UInt64? {
        givenEventID(call).flatMap { UInt64($0) }
    }

    /// The participant whose stream it is, if it is one's own or the bearer runs the gateway.
    private func reader(_ call: Call, in room: RoomSummary) throws(StageError) -> String? {
        guard let reference = call.query("participant") else { return nil }
        if call.claims.role == .operator { return reference }
        guard call.claims.role == .participant else { throw .tokenGrantsInvalid }
        // Somebody who is gone is known to the stage by the session alone; it says what became of it.
        let identity = (try? directory.participant(reference, in: room.sid))?.identity ?? call.claims.identity
        guard identity == call.claims.identity else { throw .tokenGrantsInvalid }
        return reference
    }

    /// The identity whose invitations are asked for: one's own, or any for operators.
    private func identity(_ call: Call) throws(StageError) -> String {
        let wanted = call.query("identity") ?? ""
        switch call.claims.role {
        case .operator where wanted.isEmpty: throw .invalidParameter("identity", "must be given")
        case .operator: return wanted
        case .participant where wanted == "me" || wanted == call.claims.identity: return call.claims.identity
        case .participant, .mixer, .monitor, .relay, .thumbnail: throw .tokenGrantsInvalid
        }
    }
}
