import GatewayModel
import Hummingbird
import Stage
import Viewership

extension ControlRoutes {
    func addViewership(to api: APIRoutes) {
        api.read("rooms/:room/viewership") { call in
            let room = try room(call)
            try call.claims.requireFigures(of: room)
            return try Reply.json(ViewershipResource(viewership.report(room: room.name)))
        }

        api.read("viewership") { call in
            try call.claims.requireOversight()
            var totals = viewership.totals()
            let watched = Set(totals.rooms.map(\.room))
            for room in directory.rooms(.inProgress) where !watched.contains(room.name) {
                totals.rooms.append(viewership.report(room: room.name))
            }
            return try Reply.json(ViewershipTotalsResource(totals))
        }
    }
}
