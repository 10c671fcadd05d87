public import FootlightModel
public import Stage

/// Maintains the view of a call's participants from successive lists.
///
/// Remaining participants keep their positions; `CallParticipantsBuilder` decides which are displayed. Uses no network.
public struct ParticipantTracker: Sendable {
    /// The current view.
    public private(set) var participants: CallParticipants
    private var builder: CallParticipantsBuilder
    private let identity: String
    private let idiom: GridGeometry.Idiom

    /// Creates a view with the local participant only.
    ///
    /// - Parameters:
    ///   - identity: The local participant's identity.
    ///   - username: The displayed name until the gateway returns one.
    ///   - idiom: A phone displays 6 other participants, a pad 12.
    public init(identity: String, username: String? = nil, idiom: GridGeometry.Idiom = .pad) {
        self.identity = identity
        self.idiom = idiom
        builder = CallParticipantsBuilder(
            local: CallParticipant(id: identity, username: username),
            idiom: idiom
        )
        participants = builder.build()
    }

    /// Applies the participants that are in the room; an empty list resets the view.
    ///
    /// Of the other participants only hosts are included.
    public mutating func apply(_ resources: [ParticipantResource]) {
        guard let own = resources.first(where: { $0.identity == identity }) else {
            self = ParticipantTracker(
                identity: identity,
                username: participants.local.username,
                idiom: idiom
            )
            return
        }
        if own.sid != builder.local.id {
            builder = CallParticipantsBuilder(local: CallParticipant(own), idiom: idiom)
        }
        builder.upsert(CallParticipant(own))
        let others = resources.filter { $0.isHost && $0.sid != own.sid }
        let present = Set(others.map(\.sid))
        for id in builder.joinOrder where !present.contains(id) { builder.remove(id) }
        for other in others { builder.upsert(CallParticipant(other)) }
        let speaker = resources.first { $0.isDominantSpeaker }?.sid
        if speaker != builder.activeSpeaker { builder.setActiveSpeaker(speaker) }
        participants = participants.stabilize(builder.build())
        builder.updateVisible(participants.visible.map(\.id))
    }
}

extension CallParticipant {
    /// Creates a participant from the gateway's resource; one without a name is a guest.
    public init(_ resource: ParticipantResource) {
        self.init(
            id: resource.sid,
            username: resource.displayName.isEmpty ? nil : resource.displayName,
            mic: resource.mediaState(.mic),
            camera: resource.mediaState(.camera),
            screen: resource.mediaState(.screen)
        )
    }
}

extension ParticipantOrder {
    /// Creates the sort attributes of a participant.
    ///
    /// - Parameter showTrack: Whether the participant is visible in the app.
    public init(_ resource: ParticipantResource, showTrack: Bool = false) {
        self.init(
            id: resource.identity,
            pin: resource.pin.map { Pin(isLocal: $0.isLocal, pinnedAt: $0.pinnedAt.seconds) },
            isScreenSharing: resource.isOn(.screen),
            isDominantSpeaker: resource.isDominantSpeaker,
            isSpeaking: resource.isSpeaking,
            hasVideo: resource.isOn(.camera) || resource.isOn(.screen),
            hasAudio: resource.isOn(.mic),
            showTrack: showTrack,
            roles: resource.isHost ? ["host"] : []
        )
    }
}

/// The state of a participant's tracks.
extension ParticipantResource {
    /// Returns the published track of a name; nil if there is none.
    public func track(_ name: TrackName) -> TrackResource? {
        tracks.first { $0.name == name }
    }

    /// Whether a track is published, subscribed and enabled.
    public func isOn(_ name: TrackName) -> Bool {
        track(name)?.isOn ?? false
    }

    /// The kinds of streams that are on.
    public var streams: Set<StreamTransitions.Kind> {
        Set(TrackName.allCases.filter { isOn($0) }.map { StreamTransitions.Kind($0) })
    }

    /// Whether the participant is a host; others have no tile.
    public var isHost: Bool { mode == .sendAndReceive }

    /// Whether a track's media is playable; off without such a track, and in a state that this version does not know.
    public func mediaState(_ name: TrackName) -> MediaState {
        track(name)?.mediaState.value ?? .off
    }
}

extension TrackResource {
    /// Whether the track is published, subscribed and enabled.
    public var isOn: Bool { published && subscribed && enabled }
}
