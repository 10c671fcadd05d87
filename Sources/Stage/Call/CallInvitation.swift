/// An invitation as the invited one learns of it.
public struct CallInvitation: Sendable, Hashable {
    /// `IN` and 32 hexadecimal digits.
    public var sid: String
    /// The room, spelled as in `CallJoin`.
    public var room: String
    /// The identity of whoever calls.
    public var inviter: String
    /// What accepting allows.
    public var mode: ParticipantMode
    /// Seconds it rings, 0 to 86 400.
    public let timeout: Int

    /// Makes one from its parts; `timeout` is brought into its range.
    public init(
        sid: String,
        room: String,
        inviter: String,
        mode: ParticipantMode = .sendAndReceive,
        timeout: Int = 30
    ) {
        self.sid = sid
        self.room = room
        self.inviter = inviter
        self.mode = mode
        self.timeout = min(max(timeout, 0), 86_400)
    }
}
