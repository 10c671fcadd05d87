/// One change of a room, as everybody who follows it learns of it.
public struct StageEvent: Sendable, Equatable {
    /// The names of events on the wire.
    public enum Name: String, Sendable, Hashable, Codable, CaseIterable {
        case roomSnapshot = "room.snapshot"
        case roomCreated = "room.created"
        case roomEnded = "room.ended"
        case participantJoined = "participant.joined"
        case participantUpdated = "participant.updated"
        case participantLeft = "participant.left"
        case participantModeChanged = "participant.mode_changed"
        case participantReconnecting = "participant.reconnecting"
        case participantReconnected = "participant.reconnected"
        case trackPublished = "track.published"
        case trackUnpublished = "track.unpublished"
        case trackSubscribed = "track.subscribed"
        case trackUnsubscribed = "track.unsubscribed"
        case layoutChanged = "layout.changed"
        case livestreamStateChanged = "livestream.state_changed"
        case livestreamOutputUpdated = "livestream.output_updated"
        case sessionDisconnected = "session.disconnected"
        case heartbeat
    }

    /// What an event brings along.
    public enum Payload: Sendable, Equatable {
        /// The whole room, for a reader that begins.
        case snapshot(RoomView)
        case roomCreated(RoomView)
        case roomEnded(RoomView)
        case participantJoined(ParticipantView)
        case participantUpdated(ParticipantView)
        case participantLeft(ParticipantView, LeaveReason)
        case participantModeChanged(ParticipantView, from: ParticipantMode)
        /// Media was lost (53405); the place is kept.
        case participantReconnecting(ParticipantView)
        case participantReconnected(ParticipantView)
        case trackPublished(Track, participant: ParticipantView)
        case trackUnpublished(Track, participant: ParticipantView, UnpublishReason)
        case trackSubscribed(Track, participant: ParticipantView)
        case trackUnsubscribed(Track, participant: ParticipantView)
        case layoutChanged(LayoutView)
        case livestreamStateChanged(LivestreamStatus)
        case livestreamOutputUpdated(OutputStatus)
        /// The last event of a reader that is shut out.
        case sessionDisconnected(StageError)
        /// Nothing happened; says to readers that the stream lives. It has no revision of its own.
        case heartbeat
    }

    /// The room.
    public var roomSID: String
    /// The room's unique name.
    public var roomName: String
    /// Rises with every event of the room; a snapshot, a heartbeat and a last word carry the latest.
    public var revision: UInt64
    /// What happened.
    public var payload: Payload
    /// Seconds since 1970.
    public var at: Double

    /// The event's name on the wire.
    public var name: Name {
        switch payload {
        case .snapshot: .roomSnapshot
        case .roomCreated: .roomCreated
        case .roomEnded: .roomEnded
        case .participantJoined: .participantJoined
        case .participantUpdated: .participantUpdated
        case .participantLeft: .participantLeft
        case .participantModeChanged: .participantModeChanged
        case .participantReconnecting: .participantReconnecting
        case .participantReconnected: .participantReconnected
        case .trackPublished: .trackPublished
        case .trackUnpublished: .trackUnpublished
        case .trackSubscribed: .trackSubscribed
        case .trackUnsubscribed: .trackUnsubscribed
        case .layoutChanged: .layoutChanged
        case .livestreamStateChanged: .livestreamStateChanged
        case .livestreamOutputUpdated: .livestreamOutputUpdated
        case .sessionDisconnected: .sessionDisconnected
        case .heartbeat: .heartbeat
        }
    }
}
