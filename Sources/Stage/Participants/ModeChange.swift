/// What a participant gets for changing the mode.
public struct ModeChange: Sendable, Equatable {
    /// The participant after the change.
    public var participant: ParticipantView
    /// Fresh keys in clear for a new host; nil for everybody else.
    public var credentials: HostCredentials?
}
