import GatewayModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

extension ControlRoutes {
    func addEvents(to api: RouterGroup<BasicRequestContext>) {
        api.get("rooms/:room/events") { request, context in
            let claims = try await authenticate(request)
            let room = try liveRoom(context, for: claims)
            try claims.requireReading(room)
            let subscription = try directory.subscribe(
                room: room.sid,
                after: lastEventID(of: request),
                participant: try session(of: request, in: room, claims: claims)
            )
            let addresses = addresses(for: request)
            return EventStream.response(to: request, subscription: subscription) { event in
                // Counted only where the number is shown, not for every event of every reader.
                let anonymous = event.carriesRoom ? viewership.report(room: event.roomName).anonymous : 0
                return EventResource(event, anonymous: anonymous, addresses: addresses)
            }
        }
    }

    private func lastEventID(of request: Request) -> UInt64? {
        let given = request.headers[.lastEventID] ?? request.uri.queryParameters.get("last_event_id").map { String($0) }
        return given.flatMap { UInt64($0) }
    }

    /// The participant whose session the stream belongs to, if it is one's own or the bearer runs the gateway.
    private func session(
        of request: Request,
        in room: RoomView,
        claims: AccessClaims
    ) throws(StageError) -> String? {
        guard let reference = request.uri.queryParameters.get("participant") else { return nil }
        guard let participant = room.participant(String(reference)) else { throw .participantNotFound }
        guard claims.role == .operator || claims.isSelf(participant, in: room) else { throw .tokenGrantsInvalid }
        return participant.sid
    }
}

extension StageEvent {
    fileprivate var carriesRoom: Bool {
        switch name {
        case .roomSnapshot, .roomCreated, .roomEnded: true
        default: false
        }
    }
}
