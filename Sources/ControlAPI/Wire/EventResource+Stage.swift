import GatewayModel
import Stage

extension EventResource {
    /// - Parameter anonymous: Players of the room that belong to no signalled participant.
    init(_ event: StageEvent, anonymous: Int, addresses: PlaybackAddresses) {
        self.init(
            type: event.name.rawValue,
            roomSID: event.roomSID,
            rev: event.revision,
            ts: Timestamp(event.at)
        )
        switch event.payload {
        case .snapshot(let view):
            room = RoomResource(view, anonymous: anonymous, addresses: addresses)
            participants = view.participants.map { ParticipantResource($0) }
            set(view.layout)
        case .roomCreated(let view), .roomEnded(let view):
            room = RoomResource(view, anonymous: anonymous, addresses: addresses)
        case .participantJoined(let view), .participantUpdated(let view), .participantReconnected(let view):
            participant = ParticipantResource(view)
        case .participantReconnecting(let view):
            participant = ParticipantResource(view)
            reason = "media"
        case .participantLeft(let view, let why):
            participant = ParticipantResource(view)
            reason = why.rawValue
        case .participantModeChanged(let view, let from):
            participant = ParticipantResource(view)
            previousMode = from.rawValue
        case .trackPublished(let what, let view), .trackSubscribed(let what, let view),
            .trackUnsubscribed(let what, let view):
            participant = ParticipantResource(view)
            track = TrackResource(what)
        case .trackUnpublished(let what, let view, let why):
            participant = ParticipantResource(view)
            track = TrackResource(what)
            // Once more with its last state, but no longer offered.
            track?.published = false
            track?.subscribed = false
            reason = why.rawValue
        case .layoutChanged(let view):
            set(view)
        case .livestreamStateChanged(let status):
            livestream = LivestreamResource(status)
        case .livestreamOutputUpdated(let status):
            output = OutputResource(status)
        case .sessionDisconnected(let why):
            error = ErrorResource(why)
        case .heartbeat:
            break
        }
    }

    private mutating func set(_ view: LayoutView) {
        let resource = LayoutResource(view)
        layout = resource
        tiles = resource.tiles
    }
}
