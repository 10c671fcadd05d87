/// What a participant gets for joining, or for coming back.
public struct JoinResult: Sendable, Equatable {
    /// The one who joined.
    public var participant: ParticipantView
    /// Names this stay of the participant; a later join of the same identity has another.
    public var sessionID: String
    /// What holds of the wishes in the request.
    public var callSettings: CallSettings
    /// Keys in clear, which exist nowhere else; nil unless the participant is a new host.
    ///
    /// Who comes back has the keys already.
    public var credentials: HostCredentials?
    /// The room right after the join.
    public var room: RoomView
}
