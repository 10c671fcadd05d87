/// The reason of an event; `EventResource.type` determines which of the values are possible.
public enum EventReason: String, Sendable, Hashable, CaseIterable {
    /// `participant.left` and `track.unpublished`: the participant left by itself; `dominant_speaker.changed` and
    /// `hand.lowered`: the participant left the room or the stage.
    case left

    /// `participant.left`: removed by an operator.
    case removed
    /// `participant.left`: the same identity joined again.
    case duplicateIdentity = "duplicate_identity"
    /// `participant.left`: no signalling for too long.
    case sessionTimeout = "session_timeout"
    /// `participant.left`: the media of a host never arrived, or did not return.
    case mediaTimeout = "media_timeout"
    /// `participant.left`: the room ended.
    case roomEnded = "room_ended"

    /// `participant.reconnecting`: the signalling connection was lost.
    case signalling
    /// `participant.reconnecting`: the media connection was lost.
    case media

    /// `track.unpublished`: by command of the host or an operator.
    case unpublished
    /// `track.unpublished`: the encoder stopped or its connection dropped.
    case ended
    /// `track.unpublished`: the participant is not a host any more.
    case modeChanged = "mode_changed"

    /// `dominant_speaker.changed`: without a dominant speaker, a participant started to speak.
    case began
    /// `dominant_speaker.changed`: the previous one fell silent, and another participant went on speaking.
    case tookOver = "took_over"
    /// `dominant_speaker.changed`: no participant spoke for a while.
    case silence
    /// `dominant_speaker.changed`: the dominant speaker was muted in the mix.
    case faded

    /// `hand.lowered`: by the participant, or by an operator.
    case lowered
    /// `hand.lowered`: the participant became a host, or accepted an invitation to be one.
    case onStage = "on_stage"
}
