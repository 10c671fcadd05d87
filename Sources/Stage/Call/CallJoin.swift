/// The wish to join a room.
public struct CallJoin: Sendable, Hashable {
    /// The room.
    public var room: String
    /// The kind of call; `default` lets anyone join.
    public var callType: String
    /// What the participant wants to do.
    public var mode: ParticipantMode
    /// The invitation that allows it; nil when none is needed.
    public var invitation: String?

    /// Makes one from its parts.
    public init(
        room: String,
        callType: String = "default",
        mode: ParticipantMode = .sendAndReceive,
        invitation: String? = nil
    ) {
        self.room = room
        self.callType = callType
        self.mode = mode
        self.invitation = invitation
    }
}
