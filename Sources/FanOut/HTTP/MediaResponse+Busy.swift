import Foundation
import HTTPTypes
import NIOCore
import Stage

extension MediaResponse {
    /// The refusal of a new viewer while there is no room, in the shape in which the API refuses.
    static let busy = refusal(StageError.serverBusy(retryAfter: 5), cause: "The gateway has no room for another viewer")

    private static func refusal(_ error: StageError, cause: String) -> MediaResponse {
        let body = RefusalBody(
            error: RefusalBody.Refusal(
                code: error.code,
                name: error.name,
                message: error.message,
                cause: cause,
                solution: error.solution,
                status: error.status,
                retryable: error.isRetryable,
                retry_after: error.retryAfter,
                more_info: "/docs/errors/\(error.code)"
            )
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and strings can always be written; without a body the status still says it.
        let data = (try? encoder.encode(body)) ?? Data()
        return MediaResponse(
            status: HTTPResponse.Status(code: error.status),
            contentType: "application/json; charset=utf-8",
            cacheControl: "no-store",
            body: [ByteBuffer(bytes: data)],
            retryAfter: error.retryAfter
        )
    }
}

/// The body of a refusal.
private struct RefusalBody: Encodable {
    // Named as they are on the wire.
    // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Refusal: Encodable {
        var code: Int
        var name: String
        var message: String
        var cause: String
        var solution: String
        var status: Int
        var retryable: Bool
        var retry_after: Int?
        var more_info: String
    }

    var error: Refusal
}
