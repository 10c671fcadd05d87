import Admission
import FootlightModel
import HTTPTypes
import Hummingbird
import Stage
import Viewership

/// Rooms as answers and events describe them, with their audience, their livestream, and addresses.
struct RoomAnswers: Sendable {
    let viewership: any ViewershipReporting
    let livestreams: any LivestreamControlling
    /// Nil if the gateway offers no HLS.
    let hls: (any HLSControlling)?
    let gate: AudienceGate
    /// The name of this gateway in its cluster; nil if it runs alone.
    let node: String?
    let gatewayAddresses: @Sendable () -> PlaybackAddresses

    func resource(of room: RoomView, for request: Request) -> RoomResource {
        let addresses = addresses(for: request)
        var resource = RoomResource(
            room,
            audience: audience(of: room),
            egress: egress(of: room, isInProgress: room.status == .inProgress, addresses: addresses),
            addresses: addresses
        )
        resource.node = node
        return resource
    }

    /// Returns the room's viewership; nil for an ended room, because a new one may have the same name.
    func audience(of room: RoomView) -> RoomViewership? {
        room.status == .inProgress ? viewership.report(room: room.name) : nil
    }

    /// Returns the state of the room's livestream and HLS.
    func egress(of room: some NamedRoom, isInProgress: Bool = true, addresses: PlaybackAddresses) -> EgressResource {
        guard isInProgress else {
            return EgressResource(livestream: LivestreamStatus(), hls: HLSResource())
        }
        return EgressResource(
            livestream: livestreams.status(room: room.name),
            hls: hls.map { HLSResource($0.status(room: room.name), room: room.name, addresses: addresses) }
                ?? HLSResource()
        )
    }

    /// Returns the response to a join or a reconnect.
    func joinAnswer(_ result: JoinResult, for call: APICall) -> JoinAnswer {
        JoinAnswer(
            result,
            room: resource(of: result.room, for: call.request),
            viewerToken: viewership.makeSession(
                room: result.room.name,
                identity: result.participant.identity,
                grant: gate.grant(ofParticipant: result.participant.identity, in: result.room.name)
            ),
            addresses: addresses(for: call.request)
        )
    }

    /// Returns the gateway's addresses with the host by which the client reached it.
    func addresses(for request: Request) -> PlaybackAddresses {
        gatewayAddresses().reached(by: request)
    }
}
