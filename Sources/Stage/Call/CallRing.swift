/// The wish to call somebody and to join once one of them accepts.
public struct CallRing: Sendable, Hashable {
    /// What to join then.
    public var join: CallJoin
    /// Identities to call.
    public var invitees: [String]
    /// Seconds it rings, 0 to 86 400.
    public let timeout: Int

    /// Makes one from its parts; `timeout` is brought into its range.
    public init(join: CallJoin, invitees: [String], timeout: Int = 30) {
        self.join = join
        self.invitees = invitees
        self.timeout = min(max(timeout, 0), 86_400)
    }
}
