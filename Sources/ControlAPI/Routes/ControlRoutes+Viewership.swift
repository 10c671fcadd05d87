import GatewayModel
import Hummingbird
import Stage
import Viewership

extension ControlRoutes {
    func addViewership(to api: RouterGroup<BasicRequestContext>) {
        api.get("rooms/:room/viewership") { request, context in
            let claims = try await authenticate(request)
            let room = try room(context, for: claims)
            try claims.requireFigures(of: room)
            return try Reply.json(ViewershipResource(viewership.report(room: room.name)))
        }

        api.get("viewership") { request, _ in
            try await authenticate(request).requireOversight()
            var totals = viewership.totals()
            let watched = Set(totals.rooms.map(\.room))
            for room in directory.rooms() where room.status == .inProgress && !watched.contains(room.name) {
                totals.rooms.append(viewership.report(room: room.name))
            }
            return try Reply.json(ViewershipTotalsResource(totals))
        }
    }
}
