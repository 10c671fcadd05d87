/// Who logged in to the dashboard.
public struct PageUser: Sendable, Equatable {
    /// Whose token it was.
    public var identity: String
    /// Whether the user may change what is on air; otherwise it only looks on.
    public var mayCommand: Bool

    /// Makes a user.
    public init(identity: String, mayCommand: Bool) {
        self.identity = identity
        self.mayCommand = mayCommand
    }
}
