import Assets
import HTTPTypes
import Hummingbird
import Stage

/// The description of this API in OpenAPI 3.1, the file `openapi.yaml`, served at `/v1/openapi.yaml`.
///
/// A test compares it with the routes and with what the code writes and reads.
enum OpenAPIDocument {
    static let text = String(decoding: PackageResources.openapi_yaml, as: UTF8.self)
}

/// What the API says of itself, to everybody.
extension ControlRoutes {
    func addDescription(to router: Router<BasicRequestContext>) {
        router.get("v1/openapi.yaml") { _, _ in
            Reply.text(OpenAPIDocument.text, type: "application/yaml")
        }

        router.get("docs/errors") { _, _ in
            let errors = StageError.documented.sorted { ($0.code, $0.message) < ($1.code, $1.message) }
            return Reply.text(errors.map(\.entry).joined(separator: "\n") + "\n")
        }

        // Where `more_info` of a refusal leads.
        router.get("docs/errors/:code") { _, context in
            let code = context.parameters.get("code").flatMap { Int($0) }
            let errors = StageError.documented.filter { $0.code == code }
            guard !errors.isEmpty else { throw StageError.unknownRoute }
            return Reply.text(errors.map(\.explanation).joined(separator: "\n"))
        }
    }
}

extension StageError {
    /// Every refusal of the gateway and of the client library, one of each kind.
    static let documented: [StageError] = [
        .tokenInvalid, .tokenRevoked, .tokenIssuerInvalid, .tokenExpired, .tokenGrantsInvalid, .operatorTokenInURL,
        .tokenSignatureInvalid, .tokenNotRevoked,
        .bodyTooLarge,
        .malformed("..."), .invalidParameter("...", "is out of range"), .unknownRoute, WrongMethod.refusal,
        .tooManyRequests(retryAfter: 1), .tooManyEvents, .internalFault, .serverBusy(retryAfter: nil),
        .roomNameInvalid, .roomNameTooLong, .roomNameCharactersInvalid, .roomCreationFailed, .roomFull, .roomNotFound,
        .roomGone,
        .maximumParticipantsOutOfRange, .roomExists, .roomCompleted,
        .identityInvalid, .identityTooLong, .identityCharactersInvalid, .participantNotFound, .duplicateIdentity,
        .trackNotFound, .trackNameInvalid, .trackNameCharactersInvalid, .trackNameDuplicated,
        .tooManyTracks, .trackCapacityReached("..."), .codecUnsupported("..."), .signallingLost, .sessionTimedOut,
        .mediaLost,
        .notJoined, .reconnecting, .notAHost, .unknownMode, .tooManyHosts, .changeModeFailed, .readerTooSlow,
        .joiningNeedsInvitation, .speakingNeedsPermission, .streamingNeedsOperator, .handNotFound, .hostsNeedNoHand,
        .invitationNotFound, .invitationClosed, .invitationExpired, .tooManyInvitations,
        .participantRemoved, .hostQuarantined(seconds: 60), .onlyHostsArePinned,
        .callNotConnected, .callConnectionLost, .requestCancelled,
        .assetNotFound, .assetFormatUnknown, .assetTooLarge(AssetStore.limit(of: .image)),
        .imageTooLarge(width: 8000, height: 6000), .tooManyAssets(AssetStore.maximumAssets),
        .livestreamNotRunning, .outputInvalid("..."), .lastOutput, .livestreamAlreadyStarted, .livestreamInFlight,
        .livestreamLimitReached, .livestreamNotStarted("..."), .livestreamLost("..."),
        .hlsInFlight, .hlsAlreadyStarted, .hlsNotStarted("..."), .hlsNotStopped("..."), .hlsFailed("..."),
        .recordingAlreadyStarted, .recordingInFlight, .recordingBeingWritten, .recordingNotStarted("..."),
        .recordingNotRunning, .recordingNotDeleted("..."), .recordingFailed("..."), .recordingNotFound,
        .snapshotNotThere, .webhookNotFound, .tooManyWebhooks(20),
    ]

    /// One line of the index: code, name, what it says, and where its page is.
    fileprivate var entry: String { "\(code) \(name): \(message). /docs/errors/\(code)" }

    /// What the refusal means and what to do, for people.
    fileprivate var explanation: String {
        "\(code) \(name) (HTTP \(status))\n\(message).\nCause: \(cause).\nSolution: \(solution).\n"
            + (isRetryable ? "The same request may succeed later.\n" : "")
    }
}
