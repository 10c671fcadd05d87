/// All webhooks, in the order in which they were made.
public struct WebhookList: Codable, Sendable, Hashable {
    /// The webhooks.
    public var webhooks: [WebhookResource]

    /// Makes a list.
    public init(webhooks: [WebhookResource]) {
        self.webhooks = webhooks
    }
}
