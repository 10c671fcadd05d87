public import GatewayModel
public import Stage

/// What a participant's tracks amount to.
extension ParticipantResource {
    /// A published track; nil without one of that name.
    public func track(_ name: TrackName) -> TrackResource? {
        tracks.first { $0.name == name.rawValue }
    }

    /// Whether a track is heard or seen: there is one of that name, and it is published, subscribed and enabled.
    public func isOn(_ name: TrackName) -> Bool {
        track(name)?.isOn ?? false
    }

    /// The streams that are on.
    public var streams: Set<StreamEdges.Kind> {
        Set(TrackName.allCases.filter { isOn($0) }.map { StreamEdges.Kind($0) })
    }

    /// Whether the participant is on stage; nobody else has a tile.
    public var isHost: Bool { mode == ParticipantMode.sendAndReceive.rawValue }

    /// Whether a track's media can be played now; off without such a track.
    public func mediaState(_ name: TrackName) -> MediaState {
        track(name).flatMap { MediaState(rawValue: $0.mediaState) } ?? .off
    }
}

extension TrackResource {
    /// Whether its media is heard or seen.
    public var isOn: Bool { published && subscribed && enabled }
}
