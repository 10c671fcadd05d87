import Webhooks

extension WebhookConfiguration {
    /// As the operator has it.
    init(_ configuration: GatewayConfiguration, path: String) {
        self.init(
            path: path,
            allowsPlainHTTP: configuration.allowsPlainWebhooks,
            maximumEndpoints: configuration.maximumWebhooks,
            maximumPending: configuration.webhookQueue
        )
    }
}
