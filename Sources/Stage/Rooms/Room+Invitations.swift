/// Invitations that end by themselves.
extension Room {
    /// Events: `invitation.missed`.
    mutating func expireInvitations(at now: Double) {
        for change in invitations.expire(at: now) { emit(.invitation(change), at: now) }
    }

    /// Events: `invitation.cancelled`.
    mutating func cancelInvitations(at now: Double) {
        for change in invitations.cancelAll(at: now) { emit(.invitation(change), at: now) }
    }
}
