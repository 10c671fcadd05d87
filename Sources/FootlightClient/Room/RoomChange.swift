public import FootlightModel
public import Stage

/// A change between two states of a room's participants.
public enum RoomChange: Sendable, Equatable {
    case participantConnected(ParticipantResource)
    case participantDisconnected(ParticipantResource)
    case participantReconnecting(ParticipantResource)
    case participantReconnected(ParticipantResource)
    /// A participant's mode changed; with the previous mode.
    case modeChanged(ParticipantResource, from: WireEnum<ParticipantMode>)
    case trackPublished(TrackResource, ParticipantResource)
    case trackUnpublished(TrackResource, ParticipantResource)
    case trackSubscribed(TrackResource, ParticipantResource)
    case trackUnsubscribed(TrackResource, ParticipantResource)
    case trackEnabled(TrackResource, ParticipantResource)
    case trackDisabled(TrackResource, ParticipantResource)
    /// A stream became visible or audible: published, subscribed and enabled.
    case streamEnabled(StreamTransitions.Kind, ParticipantResource)
    /// A stream is no longer visible or audible.
    case streamDisabled(StreamTransitions.Kind, ParticipantResource)
    /// The dominant speaker changed; nil if there is none.
    case dominantSpeakerChanged(ParticipantResource?)

    /// Returns the changes in `after`: participants that left, that joined, each one's changes, and the dominant
    /// speaker.
    public static func changes(
        from before: [ParticipantResource],
        to after: [ParticipantResource]
    )
        -> [RoomChange]
    {
        let earlier = Dictionary(before.map { ($0.sid, $0) }) { first, _ in first }
        let present = Set(after.map(\.sid))
        var result: [RoomChange] = []
        for gone in before where !present.contains(gone.sid) {
            var transitions = StreamTransitions()
            _ = transitions.update(gone.streams)
            result += streamChanges(transitions.update([]), of: gone)
            result.append(.participantDisconnected(gone))
        }
        for participant in after {
            let previous = earlier[participant.sid]
            if previous == nil { result.append(.participantConnected(participant)) }
            result += changes(of: participant, since: previous)
        }
        let speakers = (before.first { $0.isDominantSpeaker }, after.first { $0.isDominantSpeaker })
        if speakers.0?.sid != speakers.1?.sid { result.append(.dominantSpeakerChanged(speakers.1)) }
        return result
    }

    private static func changes(
        of participant: ParticipantResource,
        since before: ParticipantResource?
    ) -> [RoomChange] {
        guard participant != before else { return [] }
        var result: [RoomChange] = []
        let isReconnecting = participant.status == .reconnecting
        let wasReconnecting = before?.status == .reconnecting
        if isReconnecting, !wasReconnecting { result.append(.participantReconnecting(participant)) }
        if !isReconnecting, wasReconnecting { result.append(.participantReconnected(participant)) }
        for name in TrackName.allCases {
            result += changes(participant.track(name), since: before?.track(name), of: participant)
        }
        var transitions = StreamTransitions()
        _ = transitions.update(before?.streams ?? [])
        result += streamChanges(transitions.update(participant.streams), of: participant)
        if let before, before.mode != participant.mode {
            result.append(.modeChanged(participant, from: before.mode))
        }
        return result
    }

    private static func changes(
        _ track: TrackResource?,
        since before: TrackResource?,
        of participant: ParticipantResource
    ) -> [RoomChange] {
        var result: [RoomChange] = []
        var previous = before
        if let before, before.sid != track?.sid {
            if before.subscribed { result.append(.trackUnsubscribed(before, participant)) }
            result.append(.trackUnpublished(before, participant))
            previous = nil
        }
        guard let track else { return result }
        if previous == nil { result.append(.trackPublished(track, participant)) }
        if track.subscribed != previous?.subscribed ?? false {
            result.append(
                track.subscribed
                    ? .trackSubscribed(track, participant) : .trackUnsubscribed(track, participant)
            )
        }
        if track.enabled != previous?.enabled ?? true {
            result.append(
                track.enabled ? .trackEnabled(track, participant) : .trackDisabled(track, participant)
            )
        }
        return result
    }

    private static func streamChanges(
        _ transitions: [StreamTransitions.Transition],
        of participant: ParticipantResource
    )
        -> [RoomChange]
    {
        transitions.map { transition in
            switch transition {
            case .enabled(let kind): .streamEnabled(kind, participant)
            case .disabled(let kind): .streamDisabled(kind, participant)
            }
        }
    }
}

/// A change of the local participant's connection to a room.
public enum ConnectionChange: Sendable, Equatable {
    /// The room was joined.
    case connected
    /// The room could not be joined.
    case failedToConnect(StageError)
    /// The connection is being restored; the error is 53001 for the event stream, 53405 for the media.
    case reconnecting(StageError)
    /// The connection is restored.
    case reconnected
    /// The room was left; without an error, by request.
    case disconnected(StageError?)

    /// Creates the change between two statuses; nil if the connection did not change.
    public init?(from before: CallStatus, to after: CallStatus) {
        switch (before.phase, after.phase) {
        case (.joining, .joined): self = .connected
        case (.reconnecting, .joined): self = .reconnected
        // Reported again when the first loss is restored and another one is not.
        case (.reconnecting(let former), .reconnecting(let loss)) where former == loss: return nil
        case (.joined, .reconnecting(let loss)), (.reconnecting, .reconnecting(let loss)):
            self = .reconnecting(loss == .media ? .mediaLost : .callConnectionLost)
        case (.joined, .left(let error)), (.reconnecting, .left(let error)): self = .disconnected(error)
        case (.leaving, .left): self = .disconnected(nil)
        case (_, .left(.some(let error))) where before.phase != after.phase:
            self = .failedToConnect(error)
        default: return nil
        }
    }
}
