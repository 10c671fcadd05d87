/// One change of a room, as its readers receive it.
public struct StageEvent: Sendable, Equatable {
    /// The content of an event.
    ///
    /// Boxed, because the same event is held in several buffers: the room's replay buffer and each reader's.
    public indirect enum Payload: Sendable, Equatable {
        /// The whole room, for a new reader.
        case snapshot(RoomView)
        /// A room was created, or restored after a restart with its participants.
        case roomCreated(RoomView)
        /// The room itself changed: it went live, or backstage. For an ended room: its program has ended.
        case roomUpdated(RoomView)
        /// The room ended and has no participants. The program goes on for its linger time.
        case roomEnded(RoomView)
        case participantJoined(ParticipantView)
        case participantUpdated(ParticipantView)
        case participantLeft(ParticipantView, LeaveReason)
        case participantModeChanged(ParticipantView, from: ParticipantMode)
        /// The connection (53001) or the media (53405) was lost; the participant keeps its tile.
        case participantReconnecting(ParticipantView, StageError)
        case participantReconnected(ParticipantView)
        /// The participant's encoder was refused and its connection closed: 53404 or 53305.
        case participantMediaFailed(ParticipantView, StageError)
        case trackPublished(Track, participant: ParticipantView)
        case trackUnpublished(Track, participant: ParticipantView, UnpublishReason)
        case trackEnabled(Track, participant: ParticipantView)
        case trackDisabled(Track, participant: ParticipantView)
        case trackSubscribed(Track, participant: ParticipantView)
        case trackUnsubscribed(Track, participant: ParticipantView)
        /// The dominant speaker changed.
        case dominantSpeakerChanged(SpeakerChange)
        case pinChanged(PinChange)
        case layoutChanged(LayoutView)
        case livestreamStateChanged(LivestreamStatus)
        case livestreamOutputUpdated(OutputStatus)
        /// A problem occurred, and the livestream goes on.
        case livestreamWarning(LivestreamWarning)
        /// The livestream failed.
        case livestreamError(StageError)
        case hlsStateChanged(HLSStatus)
        /// A recording starts or ends.
        case recordingStateChanged(RecordingStatus)
        /// A file of a recording has ended, and the next one has begun.
        case recordingRotated(RecordingStatus)
        /// A recording failed; the show goes on.
        case recordingFailed(StageError)
        /// The number of viewers changed.
        case viewershipUpdated(AudienceUpdate)
        case invitation(InvitationChange)
        /// A hand was raised, lowered or answered.
        case hand(HandChange)
        /// An application-defined event.
        case custom(CustomEvent)
        /// A file was stored in the room, possibly in place of another one of its name.
        case assetStored(Asset)
        case assetRemoved(Asset)
        /// The last event of a reader that is disconnected.
        case sessionDisconnected(StageError)
        /// A sign that the stream is alive. It has no revision of its own.
        case heartbeat
    }

    /// The room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// Increases with every event of the room; a snapshot, a heartbeat and a final event carry the latest revision.
    public var revision: UInt64
    /// The content of the event.
    public var payload: Payload
    /// Seconds since 1970.
    public var at: Double

    /// The identities that receive the event in their own streams; empty for events of the room alone.
    var concernedIdentities: Set<String> {
        guard case .invitation(let change) = payload else { return [] }
        return Set(change.invitation.invitees.map(\.identity)).union([change.invitation.inviter])
    }

    /// The only participant that receives the event; nil for all readers.
    ///
    /// Only the viewer that set a local pin receives its changes.
    var onlyReaderSID: String? {
        guard case .pinChanged(let change) = payload else { return nil }
        return change.viewerSID
    }
}

extension StageEvent {
    /// The names of events on the wire.
    public enum Name: String, Sendable, Hashable, Codable, CaseIterable {
        case roomSnapshot = "room.snapshot"
        case roomCreated = "room.created"
        case roomUpdated = "room.updated"
        case roomEnded = "room.ended"
        case participantJoined = "participant.joined"
        case participantUpdated = "participant.updated"
        case participantLeft = "participant.left"
        case participantModeChanged = "participant.mode_changed"
        case participantReconnecting = "participant.reconnecting"
        case participantReconnected = "participant.reconnected"
        case participantMediaFailed = "participant.media_failed"
        case trackPublished = "track.published"
        case trackUnpublished = "track.unpublished"
        case trackEnabled = "track.enabled"
        case trackDisabled = "track.disabled"
        case trackSubscribed = "track.subscribed"
        case trackUnsubscribed = "track.unsubscribed"
        case dominantSpeakerChanged = "dominant_speaker.changed"
        case pinChanged = "pin.changed"
        case layoutChanged = "layout.changed"
        case livestreamStateChanged = "livestream.state_changed"
        case livestreamOutputUpdated = "livestream.output_updated"
        case livestreamWarning = "livestream.warning"
        case livestreamError = "livestream.error"
        case hlsStateChanged = "hls.state_changed"
        case recordingStateChanged = "recording.state_changed"
        case recordingRotated = "recording.rotated"
        case recordingFailed = "recording.failed"
        case viewershipUpdated = "viewership.updated"
        case invitationCreated = "invitation.created"
        case invitationAccepted = "invitation.accepted"
        case invitationRejected = "invitation.rejected"
        case invitationCancelled = "invitation.cancelled"
        case invitationMissed = "invitation.missed"
        case handRaised = "hand.raised"
        case handLowered = "hand.lowered"
        case handAccepted = "hand.accepted"
        case handRejected = "hand.rejected"
        case handExpired = "hand.expired"
        case customEvent = "custom.event"
        case assetStored = "asset.stored"
        case assetRemoved = "asset.removed"
        case sessionDisconnected = "session.disconnected"
        case heartbeat
    }

    /// The event's name on the wire.
    public var name: Name {
        switch payload {
        case .snapshot: .roomSnapshot
        case .roomCreated: .roomCreated
        case .roomUpdated: .roomUpdated
        case .roomEnded: .roomEnded
        case .participantJoined: .participantJoined
        case .participantUpdated: .participantUpdated
        case .participantLeft: .participantLeft
        case .participantModeChanged: .participantModeChanged
        case .participantReconnecting: .participantReconnecting
        case .participantReconnected: .participantReconnected
        case .participantMediaFailed: .participantMediaFailed
        case .trackPublished: .trackPublished
        case .trackUnpublished: .trackUnpublished
        case .trackEnabled: .trackEnabled
        case .trackDisabled: .trackDisabled
        case .trackSubscribed: .trackSubscribed
        case .trackUnsubscribed: .trackUnsubscribed
        case .dominantSpeakerChanged: .dominantSpeakerChanged
        case .pinChanged: .pinChanged
        case .layoutChanged: .layoutChanged
        case .livestreamStateChanged: .livestreamStateChanged
        case .livestreamOutputUpdated: .livestreamOutputUpdated
        case .livestreamWarning: .livestreamWarning
        case .livestreamError: .livestreamError
        case .hlsStateChanged: .hlsStateChanged
        case .recordingStateChanged: .recordingStateChanged
        case .recordingRotated: .recordingRotated
        case .recordingFailed: .recordingFailed
        case .viewershipUpdated: .viewershipUpdated
        case .invitation(let change): Name(change.kind)
        case .hand(let change): Name(change.kind)
        case .custom: .customEvent
        case .assetStored: .assetStored
        case .assetRemoved: .assetRemoved
        case .sessionDisconnected: .sessionDisconnected
        case .heartbeat: .heartbeat
        }
    }
}

extension StageEvent.Name {
    fileprivate init(_ kind: InvitationChange.Kind) {
        switch kind {
        case .created: self = .invitationCreated
        case .accepted: self = .invitationAccepted
        case .rejected: self = .invitationRejected
        case .cancelled: self = .invitationCancelled
        case .missed: self = .invitationMissed
        }
    }

    fileprivate init(_ kind: HandChange.Kind) {
        switch kind {
        case .raised: self = .handRaised
        case .lowered: self = .handLowered
        case .accepted: self = .handAccepted
        case .rejected: self = .handRejected
        case .expired: self = .handExpired
        }
    }
}

/// The reason for the end of a track.
public enum UnpublishReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// By command of the host or an operator.
    case unpublished
    /// The encoder stopped or its connection dropped.
    case ended
    /// The participant is not a host any more.
    case modeChanged = "mode_changed"
    /// The participant left.
    case left
}
