/// A page of the revoked tokens, in the order in which they were revoked.
public struct RevokedTokenList: Codable, Sendable, Hashable {
    /// The tokens that would still be good.
    public var tokens: [RevokedTokenResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a page.
    public init(tokens: [RevokedTokenResource], meta: PageResource) {
        self.tokens = tokens
        self.meta = meta
    }
}
