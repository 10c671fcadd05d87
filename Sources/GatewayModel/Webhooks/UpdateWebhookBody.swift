/// The body of `PATCH /v1/webhooks/{webhook}`; what is left out stays as it is.
public struct UpdateWebhookBody: Codable, Sendable, Hashable {
    /// Where to post to.
    public var url: String?
    /// What it is for, for people.
    public var description: String?
    /// The names of events; empty for all.
    public var types: [String]?
    /// The unique name or sid of a room; null for all rooms.
    public var room: ExplicitNull<String>?
    /// Whether anything is delivered; true also for an endpoint that was turned off because it failed.
    public var enabled: Bool?

    /// Makes a body that changes nothing.
    public init() {}
}
