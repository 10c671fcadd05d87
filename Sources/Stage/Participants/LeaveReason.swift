/// Why a participant is no longer in the room.
public enum LeaveReason: String, Sendable, Hashable, Codable {
    /// By their own wish.
    case left
    /// Taken out by an operator.
    case removed
    /// The same identity joined again from elsewhere.
    case duplicateIdentity = "duplicate_identity"
    case roomEnded = "room_ended"
}
