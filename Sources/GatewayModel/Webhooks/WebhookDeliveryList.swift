/// A page of deliveries, the latest first.
public struct WebhookDeliveryList: Codable, Sendable, Hashable {
    /// The deliveries.
    public var deliveries: [WebhookDeliveryResource]
    /// Where the list goes on.
    public var meta: PageResource

    /// Makes a page.
    public init(deliveries: [WebhookDeliveryResource], meta: PageResource) {
        self.deliveries = deliveries
        self.meta = meta
    }
}
