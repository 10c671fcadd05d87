import GatewayModel
import Stage
import Viewership

/// What an event needs on the wire beside what the stage says: addresses as the reader knows us, and the count of
/// viewers, which is looked up only for the events that show it.
struct EventContext: Sendable {
    let routes: ControlRoutes
    let addresses: PlaybackAddresses

    func room(_ view: RoomView) -> RoomResource {
        RoomResource(
            view,
            audience: routes.audience(of: view),
            egress: routes.egress(of: view, isInProgress: view.status == .inProgress, addresses: addresses),
            addresses: addresses
        )
    }

    /// Who is in the event's room at this moment; nil when it is gone.
    func counts(_ event: StageEvent) -> CountsResource? {
        guard let room = try? routes.directory.summary(of: event.roomSID) else { return nil }
        return CountsResource(room.counts, audience: routes.viewership.report(room: event.roomName))
    }

    func viewership(_ event: StageEvent) -> ViewershipResource {
        ViewershipResource(routes.viewership.report(room: event.roomName))
    }

    func playlist(_ status: HLSStatus, _ event: StageEvent) -> HLSResource {
        HLSResource(status, room: event.roomName, addresses: addresses)
    }
}
