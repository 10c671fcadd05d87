import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addEvents(to api: APIRoutes) {
        api.stream("rooms/:room/events") { call in
            let room = try readableRoom(call)
            let subscription = try directory.subscribe(
                room: room.sid,
                after: lastEventID(call),
                participant: try reader(call, in: room),
                sessionID: call.query("session_id")
            )
            return stream(subscription, to: call)
        }

        api.stream("events") { call in
            stream(try directory.subscribe(identity: identity(call)), to: call)
        }
    }

    private func stream(_ subscription: EventSubscription, to call: Call) -> Response {
        let context = EventContext(routes: self, addresses: addresses(for: call.request))
        return EventStream.response(to: call.request, subscription: subscription) { event in
            try frames.frame(event, context: context)
        }
    }

    private func lastEventID(_ call: Call) -> UInt64? {
        let given = call.request.headers[.lastEventID] ?? call.query("last_event_id")
        return given.flatMap { UInt64($0) }
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
        guard let wanted = call.query("identity"), !wanted.isEmpty else {
            throw .invalidParameter("identity", "must be given")
        }
        switch call.claims.role {
        case .operator: return wanted
        case .participant where wanted == "me" || wanted == call.claims.identity: return call.claims.identity
        case .participant, .mixer, .monitor: throw .tokenGrantsInvalid
        }
    }
}
