/// How an invitation stands with one of those it was sent to.
public enum InvitationState: String, Sendable, Hashable, Codable {
    /// No answer yet.
    case ringing
    case accepted
    case rejected
    /// Called back by the inviter, or by the end of the room.
    case cancelled
    /// Not answered in time.
    case missed
}
