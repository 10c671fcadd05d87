import Foundation
import HTTPTypes
import NIOCore
import Stage

extension MediaResponse {
    // MARK: In the shape in which the API refuses

    /// The refusal of a new viewer while there is no room.
    static let busy: MediaResponse = {
        var error = StageError.serverBusy(retryAfter: 5)
        error.cause = "The gateway has no room for another viewer"
        return refusal(error, .serviceUnavailable)
    }()

    /// Every place of the room's audience is taken.
    static let roomFull = refusal(.roomFull, .conflict)

    /// The token in the address is an operator's.
    static let operatorTokenInURL = refusal(.operatorTokenInURL, .forbidden)

    /// More requests of one viewer wait than a player has use for.
    static let tooManyWaits: MediaResponse = {
        var error = StageError.tooManyRequests(retryAfter: 1)
        error.cause = "More requests of one viewer wait than a player has use for"
        return refusal(error, .tooManyRequests)
    }()

    /// More sessions from one address that nobody is seen to watch by than it is granted.
    static let tooManySessions: MediaResponse = {
        var error = StageError.tooManyRequests(retryAfter: 5)
        error.cause = "Too many players of this address have asked for a program and not played it"
        return refusal(error, .tooManyRequests)
    }()

    /// More requests from one address than it is granted, for media or for the API behind.
    ///
    /// - Parameter rate: How many it is granted a second; a request that is refused costs it nothing, so that after the
    ///   time for one there is one.
    static func tooManyRequests(rate: Double) -> MediaResponse {
        refusal(.tooManyRequests(retryAfter: Int(min(max(1 / rate, 1), 3600).rounded(.up))), .tooManyRequests)
    }

    /// - Parameter status: The error's, with its words.
    private static func refusal(_ error: StageError, _ status: HTTPResponse.Status) -> MediaResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers and strings can always be written; without a body the status still says it.
        let data = (try? encoder.encode(StageError.Body(error))) ?? Data()
        return MediaResponse(
            status: status,
            contentType: "application/json; charset=utf-8",
            cacheControl: "no-store",
            body: [ByteBuffer(bytes: data)],
            retryAfter: error.retryAfter
        )
    }
}
