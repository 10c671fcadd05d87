public import Stage

/// Who watches, as far as a token says it.
public struct ViewerBearer: Sendable, Equatable {
    /// Whose token it is; nil for somebody without one.
    public var identity: String?
    /// What it is for.
    public var role: PlayerRequest.Role

    /// Somebody without a token, unless given otherwise.
    public init(identity: String? = nil, role: PlayerRequest.Role = .viewer) {
        self.identity = identity
        self.role = role
    }
}

/// Why a player's token is not accepted.
public enum ViewerTokenRefusal: Error, Sendable {
    /// Out of its time, revoked, or none of ours.
    case invalid
    /// An operator's, which is not accepted in a URL.
    case operatorToken
}
