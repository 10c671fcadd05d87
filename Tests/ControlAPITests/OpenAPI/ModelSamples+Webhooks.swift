import GatewayModel

extension ModelSamples {
    static let createWebhookBody = CreateWebhookBody(
        url: "x",
        description: "x",
        types: ["x"],
        room: "x",
        enabled: true
    )

    static let updateWebhookBody: UpdateWebhookBody = {
        var body = UpdateWebhookBody()
        body.url = "x"
        body.description = "x"
        body.types = ["x"]
        body.room = ExplicitNull(wrappedValue: "x")
        body.enabled = true
        return body
    }()

    static let webhookResource = WebhookResource(
        id: "x",
        url: "x",
        secret: "x",
        createdAt: Timestamp(0),
        updatedAt: Timestamp(0)
    )

    static let webhookList = WebhookList(webhooks: [webhookResource])

    static let webhookAttemptResource = WebhookAttemptResource(
        number: 1,
        at: Timestamp(0),
        duration: 1.5,
        outcome: "x",
        status: 1,
        retryAfter: 1.5
    )

    static let webhookDeliveryResource = WebhookDeliveryResource(
        id: "x",
        seq: 1,
        type: "x",
        room: "x",
        at: Timestamp(0),
        state: "x",
        tries: 1,
        attempts: [webhookAttemptResource]
    )

    static let webhookDeliveryList = WebhookDeliveryList(deliveries: [webhookDeliveryResource], meta: pageResource)

    static let thresholdResource = ThresholdResource(threshold: 1, viewership: viewershipResource)
}
