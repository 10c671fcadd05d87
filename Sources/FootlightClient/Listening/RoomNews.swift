public import GatewayModel
public import Stage

/// What became different between one state of a room and the next.
public enum RoomNews: Sendable, Equatable {
    case participantConnected(ParticipantResource)
    case participantDisconnected(ParticipantResource)
    case participantReconnecting(ParticipantResource)
    case participantReconnected(ParticipantResource)
    /// Somebody's mode, and what it was.
    case modeChanged(ParticipantResource, from: String)
    case trackPublished(TrackResource, ParticipantResource)
    case trackUnpublished(TrackResource, ParticipantResource)
    case trackSubscribed(TrackResource, ParticipantResource)
    case trackUnsubscribed(TrackResource, ParticipantResource)
    case trackEnabled(TrackResource, ParticipantResource)
    case trackDisabled(TrackResource, ParticipantResource)
    /// A stream is seen or heard from now on: published, subscribed and enabled.
    case streamEnabled(StreamEdges.Kind, ParticipantResource)
    /// It no longer is.
    case streamDisabled(StreamEdges.Kind, ParticipantResource)
    /// Who has the floor; nil when nobody speaks.
    case dominantSpeakerChanged(ParticipantResource?)

    /// What is different in `after`: who left, who came, then everybody's own changes, and last the floor.
    public static func changes(
        from before: [ParticipantResource],
        to after: [ParticipantResource]
    )
        -> [RoomNews]
    {
        let earlier = Dictionary(before.map { ($0.sid, $0) }) { first, _ in first }
        let present = Set(after.map(\.sid))
        var news: [RoomNews] = []
        for gone in before where !present.contains(gone.sid) {
            var edges = StreamEdges()
            _ = edges.update(gone.streams)
            news += told(edges.update([]), of: gone)
            news.append(.participantDisconnected(gone))
        }
        for participant in after {
            let known = earlier[participant.sid]
            if known == nil { news.append(.participantConnected(participant)) }
            news += changes(of: participant, since: known)
        }
        let speakers = (before.first { $0.isDominantSpeaker }, after.first { $0.isDominantSpeaker })
        if speakers.0?.sid != speakers.1?.sid { news.append(.dominantSpeakerChanged(speakers.1)) }
        return news
    }

    private static func changes(
        of participant: ParticipantResource,
        since before: ParticipantResource?
    ) -> [RoomNews] {
        guard participant != before else { return [] }
        var news: [RoomNews] = []
        let isReconnecting = participant.status == ParticipantStatus.reconnecting.rawValue
        let wasReconnecting = before?.status == ParticipantStatus.reconnecting.rawValue
        if isReconnecting, !wasReconnecting { news.append(.participantReconnecting(participant)) }
        if !isReconnecting, wasReconnecting { news.append(.participantReconnected(participant)) }
        for name in TrackName.allCases {
            news += changes(participant.track(name), since: before?.track(name), of: participant)
        }
        var edges = StreamEdges()
        _ = edges.update(before?.streams ?? [])
        news += told(edges.update(participant.streams), of: participant)
        if let before, before.mode != participant.mode {
            news.append(.modeChanged(participant, from: before.mode))
        }
        return news
    }

    private static func changes(
        _ track: TrackResource?,
        since before: TrackResource?,
        of participant: ParticipantResource
    ) -> [RoomNews] {
        var news: [RoomNews] = []
        var known = before
        if let before, before.sid != track?.sid {
            if before.subscribed { news.append(.trackUnsubscribed(before, participant)) }
            news.append(.trackUnpublished(before, participant))
            known = nil
        }
        guard let track else { return news }
        if known == nil { news.append(.trackPublished(track, participant)) }
        if track.subscribed != known?.subscribed ?? false {
            news.append(
                track.subscribed
                    ? .trackSubscribed(track, participant) : .trackUnsubscribed(track, participant)
            )
        }
        if track.enabled != known?.enabled ?? true {
            news.append(
                track.enabled ? .trackEnabled(track, participant) : .trackDisabled(track, participant)
            )
        }
        return news
    }

    private static func told(
        _ edges: [StreamEdges.Edge],
        of participant: ParticipantResource
    )
        -> [RoomNews]
    {
        edges.map { edge in
            switch edge {
            case .enabled(let kind): .streamEnabled(kind, participant)
            case .disabled(let kind): .streamDisabled(kind, participant)
            }
        }
    }
}
