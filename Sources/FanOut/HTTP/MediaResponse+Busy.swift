import Foundation
import HTTPTypes
import NIOCore
import Stage

extension MediaResponse {
    /// The refusal of a new viewer while there is no room, in the shape in which the API refuses.
    static let busy: MediaResponse = {
        var error = StageError.serverBusy(retryAfter: 5)
        error.cause = "The gateway has no room for another viewer"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and strings can always be written; without a body the status still says it.
        let data = (try? encoder.encode(StageError.Body(error))) ?? Data()
        return MediaResponse(
            status: HTTPResponse.Status(code: error.status),
            contentType: "application/json; charset=utf-8",
            cacheControl: "no-store",
            body: [ByteBuffer(bytes: data)],
            retryAfter: error.retryAfter
        )
    }()
}
