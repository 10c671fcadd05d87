/// What a participant gets for joining.
public struct JoinResult: Sendable, Equatable {
    /// The one who joined.
    public var participant: ParticipantView
    /// Names this connection of the participant; a later join of the same identity has another.
    public var sessionID: String
    /// Keys in clear, which exist nowhere else; nil unless the participant is a host.
    public var credentials: HostCredentials?
    /// The room right after the join.
    public var room: RoomView
}
