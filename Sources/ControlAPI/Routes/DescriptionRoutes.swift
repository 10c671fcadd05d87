import Admission
import Assets
import HTTPTypes
import Hummingbird
import Shows
import Stage

/// Public routes that describe the API and its errors.
enum DescriptionRoutes {
    static func add(to router: Router<BasicRequestContext>) {
        router.get("v1/openapi.yaml") { _, _ in
            APIResponse.text(OpenAPIDocument.text, type: "application/yaml")
        }

        router.get("docs/errors") { _, _ in
            let errors = StageError.documented.sorted { ($0.code, $0.message) < ($1.code, $1.message) }
            return APIResponse.text(errors.map(\.entry).joined(separator: "\n") + "\n")
        }

        // The target of `more_info` in an error response.
        router.get("docs/errors/:code") { _, context in
            let code = context.parameters.get("code").flatMap { Int($0) }
            let errors = StageError.documented.filter { $0.code == code }
            guard !errors.isEmpty else { throw StageError.unknownRoute }
            return APIResponse.text(errors.map(\.explanation).joined(separator: "\n"))
        }
    }
}

/// The OpenAPI 3.1 description of the API, from `openapi.yaml`, served at `/v1/openapi.yaml`.
///
/// A test compares it with the routes and with the encoded models.
enum OpenAPIDocument {
    static let text = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
}

extension StageError {
    /// One error of each kind that the gateway and the client library raise.
    static let documented = general + AccessRefusal.allCases.map(\.error)

    private static let general: [StageError] = [
        .tokenInvalid, .tokenRevoked, .tokenIssuerInvalid, .tokenExpired, .tokenGrantsInvalid, .operatorTokenInURL,
        .tokenSignatureInvalid, .tokenNotRevoked,
        .bodyTooLarge,
        .malformed("..."), .invalidParameter("...", "is out of range"), .unknownRoute, MethodNotAllowed.refusal,
        .tooManyRequests(retryAfter: 1), .tooManyEvents, .internalError, .serverBusy(retryAfter: nil),
        .tooManyRooms(200), .shuttingDown, .processorExhausted(used: 1.5, allowed: 1.6, retryAfter: 10),
        .roomNameInvalid, .roomNameTooLong, .roomNameCharactersInvalid, .roomCreationFailed, .roomFull, .roomNotFound,
        .roomGone,
        .maximumParticipantsOutOfRange, .roomExists, .roomExists(at: "..."), .roomCompleted,
        .identityInvalid, .identityTooLong, .identityCharactersInvalid, .participantNotFound, .duplicateIdentity,
        .trackNotFound, .trackNameInvalid, .trackNameCharactersInvalid, .trackNameDuplicated,
        .talkbackTaken(by: "..."), .talkbackUnavailable,
        .tooManyTracks, .trackCapacityReached("..."), .codecUnsupported("..."), .signallingLost, .sessionTimedOut,
        .mediaLost,
        .notJoined, .reconnecting, .notAHost, .unknownMode, .tooManyHosts, .changeModeFailed, .readerTooSlow,
        .joiningNeedsInvitation, .speakingNeedsPermission, .streamingNeedsOperator, .handNotFound, .hostCannotRaiseHand,
        .invitationNotFound, .invitationClosed, .invitationExpired, .tooManyInvitations,
        .participantRemoved, .hostQuarantined(seconds: 60), .onlyHostsCanBePinned,
        .callNotConnected, .callConnectionLost, .requestCancelled,
        .assetNotFound, .assetFormatUnknown, .assetTooLarge(AssetStore.limit(of: .image)),
        .imageTooLarge(width: 8000, height: 6000), .tooManyAssets(AssetStore.maximumAssets),
        .livestreamNotRunning, .outputInvalid("..."), .lastOutput, .livestreamAlreadyStarted, .livestreamInFlight,
        .livestreamLimitReached, .livestreamNotStarted("..."), .livestreamLost("..."),
        .hlsInFlight, .hlsAlreadyStarted, .hlsNotStarted("..."), .hlsNotStopped("..."), .hlsFailed("..."),
        .recordingAlreadyStarted, .recordingInFlight, .recordingBeingWritten, .recordingNotStarted("..."),
        .recordingNotRunning, .recordingNotDeleted("..."), .recordingFailed("..."), .recordingNotFound,
        .snapshotNotFound, .webhookNotFound, .tooManyWebhooks(20),
        .ticketNotFound, .tooManyTickets, .ticketsNotStored,
        .showNotFound, .episodeNotFound, .episodeEnded, .episodeOpen, .tooManyEpisodes, .showExists, .tooManyShows,
        .nodeUnreachable, .nodeFailed, .roomElsewhere, .clusterUnavailable, .nodeSignatureInvalid,
        .seatNotFound, .seatExists, .showNotStored, .showBusy, .sceneNotFound, .noEpisodeOpen("..."),
    ]

    /// The error's line in the index: code, name, message and URL.
    fileprivate var entry: String { "\(code) \(name): \(message). /docs/errors/\(code)" }

    /// The error's page: meaning, cause and solution.
    fileprivate var explanation: String {
        "\(code) \(name) (HTTP \(status))\n\(message).\nCause: \(cause).\nSolution: \(solution).\n"
            + (isRetryable ? "The same request may succeed later.\n" : "")
    }
}
