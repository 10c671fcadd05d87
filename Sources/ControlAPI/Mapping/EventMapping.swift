import FootlightModel
import Stage
import Viewership

extension EventResource {
    /// - Parameter context: The data that events do not contain themselves.
    init(_ event: StageEvent, context: EventContext) {
        self.init(
            type: .known(event.name),
            roomSID: event.roomSID,
            rev: event.revision,
            ts: Timestamp(event.at)
        )
        switch event.payload {
        case .snapshot(let view):
            room = context.room(view)
            participants = view.arrangedParticipants.map { ParticipantResource($0) }
            hands = view.hands.map { HandResource($0) }
            set(view.layout)
        case .roomCreated(let view), .roomUpdated(let view), .roomEnded(let view):
            room = context.room(view)
        case .participantJoined(let view), .participantUpdated(let view), .participantReconnected(let view):
            participant = ParticipantResource(view)
        case .participantReconnecting(let view, let why):
            participant = ParticipantResource(view)
            reason = .known(why.code == Self.mediaCode ? .media : .signalling)
            code = why.code
        case .participantMediaFailed(let view, let why):
            participant = ParticipantResource(view)
            error = ErrorResource(why, context.addresses)
        case .participantLeft(let view, let why):
            participant = ParticipantResource(view)
            reason = WireEnum(rawValue: why.rawValue)
        case .participantModeChanged(let view, let from):
            participant = ParticipantResource(view)
            previousMode = .known(from)
        case .trackPublished(let what, let view), .trackEnabled(let what, let view), .trackDisabled(let what, let view),
            .trackSubscribed(let what, let view), .trackUnsubscribed(let what, let view):
            set(what, of: view)
        case .trackUnpublished(let what, let view, let why):
            set(what, of: view)
            // The track's last state, marked as no longer published.
            track?.published = false
            track?.subscribed = false
            reason = WireEnum(rawValue: why.rawValue)
        case .dominantSpeakerChanged(let change):
            sid = ExplicitNull(wrappedValue: change.participantSID)
            previousSID = ExplicitNull(wrappedValue: change.previousSID)
            reason = WireEnum(rawValue: change.reason.rawValue)
        case .pinChanged(let change):
            participantSID = change.participantSID
            pin = ExplicitNull(wrappedValue: change.pin.map { PinResource($0) })
        case .layoutChanged(let view):
            set(view)
        case .invitation(let change):
            invitation = InvitationResource(change.invitation)
            identities = change.identities
        case .hand(let change):
            hand = HandResource(change.hand)
            reason = change.reason.map { WireEnum(rawValue: $0.rawValue) }
        case .custom(let event):
            custom = CustomEventResource(event)
        case .assetStored(let file), .assetRemoved(let file):
            asset = AssetResource(file)
        case .viewershipUpdated(let update):
            let report = update.report
            counts = CountsResource(update.counts, audience: report)
            viewership = ViewershipResource(report)
        default:
            setEgress(event, context)
        }
    }

    /// The code of a lost media connection, as opposed to a lost signalling connection.
    private static let mediaCode = 53405

    private mutating func setEgress(_ event: StageEvent, _ context: EventContext) {
        switch event.payload {
        case .livestreamStateChanged(let status): livestream = LivestreamResource(status)
        case .livestreamOutputUpdated(let status): output = OutputResource(status)
        case .livestreamWarning(let what): warning = WarningResource(what)
        case .livestreamError(let why): error = ErrorResource(why, context.addresses)
        case .hlsStateChanged(let status): hls = context.playlist(status, event)
        case .recordingStateChanged(let status), .recordingRotated(let status):
            recording = RecordingResource(status, context.addresses)
        case .recordingFailed(let why): error = ErrorResource(why, context.addresses)
        case .sessionDisconnected(let why): error = ErrorResource(why, context.addresses)
        default: break
        }
    }

    private mutating func set(_ what: Track, of view: ParticipantView) {
        participant = ParticipantResource(view)
        track = TrackResource(what)
    }

    private mutating func set(_ view: LayoutView) {
        let resource = LayoutResource(view)
        layout = resource
        tiles = resource.tiles
    }
}

/// The data that an encoded event needs besides the event: the addresses as the reader knows them, and the viewer
/// counts of the whole room, which are read only for events that contain a room.
struct EventContext: Sendable {
    let answers: RoomAnswers
    let addresses: PlaybackAddresses

    func room(_ view: RoomView) -> RoomResource {
        RoomResource(
            view,
            audience: answers.audience(of: view),
            egress: answers.egress(of: view, isInProgress: view.status == .inProgress, addresses: addresses),
            addresses: addresses
        )
    }

    func playlist(_ status: HLSStatus, _ event: StageEvent) -> HLSResource {
        HLSResource(status, room: event.roomName, addresses: addresses)
    }
}

extension CustomEventResource {
    init(_ event: CustomEvent) {
        self.init(
            type: event.type,
            data: MetadataText.metadata(of: event.data),
            participantSID: event.sender?.participantSID,
            identity: event.sender?.identity
        )
    }
}

extension CustomEvent {
    /// Parses a request; the size of the data is checked when the event is sent.
    init(_ body: SendEventBody, from sender: Sender?) throws {
        self.init(
            type: body.type,
            data: try body.data.map { try MetadataText.text(of: $0) } ?? Self.emptyData,
            sender: sender
        )
    }
}

extension ErrorResource {
    init(_ error: StageError, _ addresses: PlaybackAddresses) {
        self.init(error, moreInfo: addresses.page(of: error))
    }
}
