import FootlightModel
import Stage
import Webhooks

extension WebhookResource {
    /// - Parameter showsSecret: Whether the secret is included: only in the response that creates it.
    init(_ endpoint: WebhookEndpoint, pending: Int, showsSecret: Bool) {
        self.init(
            id: endpoint.id,
            url: endpoint.address.text,
            secret: showsSecret ? endpoint.secret.text : endpoint.secret.masked,
            createdAt: Timestamp(endpoint.createdAt),
            updatedAt: Timestamp(endpoint.updatedAt)
        )
        description = endpoint.text
        types = endpoint.filter.types
        room = endpoint.filter.room
        show = endpoint.filter.show
        enabled = endpoint.disabled == nil
        disabledReason = endpoint.disabled.map { .known($0) }
        formerSecretUntil = endpoint.former.map { Timestamp($0.until) }
        failures = endpoint.health.failures
        failingSince = endpoint.health.failingSince.map { Timestamp($0) }
        nextTryAt = endpoint.health.nextTry.map { Timestamp($0) }
        self.pending = pending
        dropped = endpoint.health.dropped
    }
}

extension WebhookAttemptResource {
    init(_ attempt: DeliveryAttempt) {
        self.init(
            number: attempt.number,
            at: Timestamp(attempt.at),
            duration: attempt.duration,
            outcome: .known(attempt.outcome.kind),
            status: attempt.outcome.status,
            retryAfter: attempt.outcome.retryAfter
        )
    }
}

extension WebhookDeliveryResource {
    init(_ record: DeliveryRecord) {
        self.init(
            id: record.messageID,
            seq: record.sequence,
            type: record.type,
            room: record.room,
            at: Timestamp(record.at),
            state: .known(record.state),
            tries: record.tries,
            attempts: record.attempts.map { WebhookAttemptResource($0) }
        )
    }
}

extension WebhookDraft {
    /// - Throws: 3073 for an unknown event type.
    init(_ body: CreateWebhookBody) throws(StageError) {
        self.init()
        url = body.url
        text = body.description
        types = try Self.known(body.types)
        room = .some(body.room)
        isEnabled = body.enabled
    }

    /// - Throws: 3073 for an unknown event type.
    init(_ body: UpdateWebhookBody) throws(StageError) {
        self.init()
        url = body.url
        text = body.description
        types = try Self.known(body.types)
        room = body.room.map(\.wrappedValue)
        isEnabled = body.enabled
    }

    private static func known(
        _ types: [WireEnum<WebhookEventPattern>]?
    ) throws(StageError) -> [WireEnum<WebhookEventPattern>]? {
        for case .unknown(let type) in types ?? [] {
            let name = type.utf8.count <= 64 ? type : "one of them"
            throw .invalidParameter("types", "holds \(name), which is no kind of event")
        }
        return types
    }
}
