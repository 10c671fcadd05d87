import Stage

extension ViewerAdmission {
    /// The id in the answer; nil for a player that gets none.
    var sid: String? {
        switch self {
        case .viewer(let sid), .uncounted(let sid): sid
        case .refused, .crowded: nil
        }
    }

    /// Under which id a request for a media playlist is recorded; nil where it is not.
    ///
    /// What plays without counting is recorded as well: that it does not count would otherwise soon be forgotten. What
    /// does not play itself, and only asks at an address that may be a viewer's, is not.
    func recordedSID(of player: PlayerRequest) -> String? {
        switch self {
        case .viewer: player.isHead ? nil : sid
        case .uncounted: player.isHead || player.purpose != nil || player.role == .relay ? nil : sid
        case .refused, .crowded: nil
        }
    }

    /// The answer to a player that is not let in.
    var refusal: MediaResponse { self == .crowded ? .tooManySessions : .foreignSession }
}
