import Stage
import Webhooks

// What can go wrong with webhooks; the codes are the HTTP status, as no source system has any for it.

extension StageError {
    /// 404: there is no such webhook.
    static let webhookNotFound = StageError(
        code: 404,
        name: "WebhookNotFoundError",
        message: "There is no such webhook",
        cause: "It was deleted, or it never was",
        solution: "List the webhooks",
        status: 404
    )

    /// 409: there are as many as there may be.
    static func tooManyWebhooks(_ limit: Int) -> StageError {
        StageError(
            code: 409,
            name: "WebhookLimitReachedError",
            message: "There are \(limit) webhooks already",
            cause: "The gateway is at its limit of webhooks",
            solution: "Delete one that is not needed any more, or raise webhooks.maximum",
            status: 409
        )
    }

    init(_ fault: WebhookFault) {
        self =
            switch fault {
            case .notFound: .webhookNotFound
            case .tooMany(let limit): .tooManyWebhooks(limit)
            case .invalid(let field, let rule): .invalidParameter(field, rule)
            case .unavailable: .serverBusy(retryAfter: 5)
            }
    }
}
