/// Why a participant is no longer in the room.
public enum LeaveReason: String, Sendable, Hashable, Codable, CaseIterable {
    /// By their own wish.
    case left
    /// Taken out by an operator.
    case removed
    /// The same identity joined again from elsewhere.
    case duplicateIdentity = "duplicate_identity"
    /// No sign of life for too long.
    case sessionTimeout = "session_timeout"
    /// A host whose media never came, or did not come back.
    case mediaTimeout = "media_timeout"
    case roomEnded = "room_ended"

    /// The last word to the participant's own event stream; nil when there is nothing to explain.
    ///
    /// It is also the answer to whoever comes back with the session later.
    var error: StageError? {
        switch self {
        case .left: nil
        case .removed: .participantRemoved
        case .duplicateIdentity: .duplicateIdentity
        case .sessionTimeout: .sessionTimedOut
        case .mediaTimeout: .mediaLost
        case .roomEnded: .roomCompleted
        }
    }
}
