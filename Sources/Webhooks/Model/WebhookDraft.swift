/// What an operator says of an endpoint; nil leaves it as it is.
public struct WebhookDraft: Sendable {
    /// The address.
    public var url: String?
    /// What it is for, for people.
    public var text: String?
    /// The names of events; empty for all.
    public var types: [String]?
    /// The room; the inner nil for all.
    public var room: String??
    /// Whether anything is delivered.
    public var isEnabled: Bool?

    /// Says nothing yet.
    public init() {}
}
