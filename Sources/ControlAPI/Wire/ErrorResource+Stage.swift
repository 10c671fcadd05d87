import GatewayModel
import Stage

extension ErrorResource {
    init(_ error: StageError) {
        self.init(
            code: error.code,
            name: error.name,
            message: error.message,
            cause: error.cause,
            solution: error.solution,
            status: error.status,
            retryable: error.isRetryable,
            retryAfter: error.retryAfter,
            moreInfo: "/docs/errors/\(error.code)"
        )
    }
}
