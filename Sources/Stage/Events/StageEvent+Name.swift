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
