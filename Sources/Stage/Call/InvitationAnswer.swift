/// What somebody made of an invitation.
public struct InvitationAnswer: Sendable, Hashable {
    /// The invitation.
    public var sid: String
    /// The room it is for.
    public var room: String
    /// The identity of whoever answered.
    public var identity: String

    /// Makes one from its parts.
    public init(sid: String, room: String, identity: String) {
        self.sid = sid
        self.room = room
        self.identity = identity
    }
}
