/// One change of a room, as everybody who follows it learns of it.
public struct StageEvent: Sendable, Equatable {
    /// What an event brings along.
    ///
    /// Boxed, because the same event waits in many places at once: the room's ring, and the buffer of each reader.
    public indirect enum Payload: Sendable, Equatable {
        /// The whole room, for a reader that begins.
        case snapshot(RoomView)
        /// A room is there: made, or found again after a restart, then with everybody who was in it.
        case roomCreated(RoomView)
        /// The room itself changed: it went live, or backstage. Of a room that has ended: its program is over as well.
        case roomUpdated(RoomView)
        /// Everybody is out. With a linger time the program goes on for so long.
        case roomEnded(RoomView)
        case participantJoined(ParticipantView)
        case participantUpdated(ParticipantView)
        case participantLeft(ParticipantView, LeaveReason)
        case participantModeChanged(ParticipantView, from: ParticipantMode)
        /// The connection (53001) or the media (53405) was lost; the place is kept.
        case participantReconnecting(ParticipantView, StageError)
        case participantReconnected(ParticipantView)
        /// What the participant's encoder sends was refused, and its connection closed: 53404 or 53305.
        case participantMediaFailed(ParticipantView, StageError)
        case trackPublished(Track, participant: ParticipantView)
        case trackUnpublished(Track, participant: ParticipantView, UnpublishReason)
        case trackEnabled(Track, participant: ParticipantView)
        case trackDisabled(Track, participant: ParticipantView)
        case trackSubscribed(Track, participant: ParticipantView)
        case trackUnsubscribed(Track, participant: ParticipantView)
        /// Somebody else has the floor, or nobody has it.
        case dominantSpeakerChanged(SpeakerChange)
        case pinChanged(PinChange)
        case layoutChanged(LayoutView)
        case livestreamStateChanged(LivestreamStatus)
        case livestreamOutputUpdated(OutputStatus)
        /// Something is wrong, and the livestream goes on.
        case livestreamWarning(LivestreamWarning)
        /// The livestream failed.
        case livestreamError(StageError)
        case hlsStateChanged(HLSStatus)
        /// A recording begins or ends.
        case recordingStateChanged(RecordingStatus)
        /// A file of a recording has ended, and the next one has begun.
        case recordingRotated(RecordingStatus)
        /// A recording has ended by itself; the show goes on.
        case recordingFailed(StageError)
        /// The number of viewers changed; it is counted elsewhere, and filled in where the event is written out.
        case viewershipUpdated
        case invitation(InvitationChange)
        /// Somebody asks to speak, or does not any more.
        case hand(HandChange)
        /// Something in the words of an app.
        case custom(CustomEvent)
        /// A file was put into the room, perhaps in place of another one of its name.
        case assetStored(Asset)
        case assetRemoved(Asset)
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

    /// The identities it is news to wherever they are; empty for what concerns the room alone.
    var concernedIdentities: Set<String> {
        guard case .invitation(let change) = payload else { return [] }
        return Set(change.invitation.invitees.map(\.identity)).union([change.invitation.inviter])
    }

    /// Whether it is news only to the session of one participant; nil when it is for everybody.
    ///
    /// Pins that a participant set for its own view are nobody else's business.
    var onlyReaderSID: String? {
        guard case .pinChanged(let change) = payload else { return nil }
        return change.viewerSID
    }
}
