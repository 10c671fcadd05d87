import GatewayModel
import HTTPTypes
import Hummingbird
import Stage

extension ControlRoutes {
    func addPins(to api: APIRoutes) {
        api.command(.put, "rooms/:room/participants/:participant/pin") { call in
            let room = try readableRoom(call)
            let pinned = try commandedParticipant(call, in: room)
            let owner = try pinOwner(call.claims, in: room)
            let body = try await call.request.decode(PinBody.self, whenEmpty: PinBody())
            let type = try body.pinType.map { (name) throws(StageError) in try PinType(named: name, field: "pin_type") }
            let pin = try directory.pin(
                room: room.sid,
                participant: pinned.sid,
                type: type ?? .screenAndCamera,
                by: owner
            )
            await keep(room)
            return try Reply.json(PinResource(pin))
        }

        api.command(.delete, "rooms/:room/participants/:participant/pin") { call in
            let room = try readableRoom(call)
            let pinned = try commandedParticipant(call, in: room)
            try directory.unpin(room: room.sid, participant: pinned.sid, by: pinOwner(call.claims, in: room))
            await keep(room)
            return Response(status: .noContent)
        }
    }

    /// Who runs the show pins for everybody, a participant for its own view.
    private func pinOwner(_ claims: AccessClaims, in room: RoomSummary) throws(StageError) -> PinOwner {
        claims.has(.participants, in: room) ? .stage : .participant(try bearer(claims, in: room).sid)
    }
}

extension PinType {
    init(named name: String, field: String) throws(StageError) {
        guard let type = PinType(rawValue: name) else {
            let names = PinType.allCases.map(\.rawValue).joined(separator: ", ")
            throw .invalidParameter(field, "must be one of \(names)")
        }
        self = type
    }
}
