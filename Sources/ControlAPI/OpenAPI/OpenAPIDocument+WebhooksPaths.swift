extension OpenAPIDocument {
    /// The addresses of webhooks.
    static let webhooksPaths = """
          /v1/webhooks:
            post:
              operationId: createWebhook
              summary: Tells an address of what happens.
              description: >-
                For operators. Each event is posted as Standard Webhooks 1.0 has it, signed with the secret in the
                answer, which is shown only this once. The body holds type, timestamp, seq, which rises over all
                events, and data: for the events of a room the EventResource of its stream, which room.started,
                host.joined, host.left, output.up, output.down and mixer.degraded have as well, for viewership.minute a
                ViewershipResource, for viewership.threshold a ThresholdResource, for broadcast.summary a
                ViewershipSummary, for webhook.disabled and webhook.test a WebhookResource. An event is told in
                order, at least once, with the same webhook-id each time.
              \(body("CreateWebhookBody"))
              \(answers("201", "It is told from now on.", "WebhookResource"))
            get:
              operationId: listWebhooks
              summary: Lists all webhooks.
              description: For operators.
              \(answers("200", "In the order in which they were made.", "WebhookList"))
          /v1/webhooks/{webhook}:
            get:
              operationId: readWebhook
              summary: Tells how a webhook is doing.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Webhook'
              responses:
                '200':
                  $ref: '#/components/responses/Webhook'
                default:
                  $ref: '#/components/responses/Refusal'
            patch:
              operationId: updateWebhook
              summary: Changes a webhook, or turns it on or off.
              description: >-
                For operators. One that is turned off loses what waits for it; one that is turned on again begins
                with what happens next.
              parameters:
                - $ref: '#/components/parameters/Webhook'
              \(body("UpdateWebhookBody"))
              responses:
                '200':
                  $ref: '#/components/responses/Webhook'
                default:
                  $ref: '#/components/responses/Refusal'
            delete:
              operationId: deleteWebhook
              summary: Takes a webhook away, and what waits for it.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Webhook'
              \(answers("204", "It is gone."))
          /v1/webhooks/{webhook}/rotate:
            post:
              operationId: rotateWebhookSecret
              summary: Gives a webhook a new secret.
              description: For operators. Messages are signed with the former one as well for a day.
              parameters:
                - $ref: '#/components/parameters/Webhook'
              \(answers("200", "The webhook with its new secret, shown only this once.", "WebhookResource"))
          /v1/webhooks/{webhook}/test:
            post:
              operationId: testWebhook
              summary: Posts webhook.test at once, and waits for the answer.
              description: For operators. One that takes it gets at once what waits for it.
              parameters:
                - $ref: '#/components/parameters/Webhook'
              \(answers("200", "What came of it.", "WebhookAttemptResource"))
          /v1/webhooks/{webhook}/deliveries:
            get:
              operationId: listWebhookDeliveries
              summary: Lists what became of the messages of a week.
              description: For operators.
              parameters:
                - $ref: '#/components/parameters/Webhook'
                - $ref: '#/components/parameters/PageSize'
                - $ref: '#/components/parameters/PageToken'
              \(answers("200", "A page of messages, the latest first.", "WebhookDeliveryList"))
        """
}
