import Assets
import HTTPTypes
import Hummingbird
import Stage

/// What the API says of itself, to everybody.
extension ControlRoutes {
    func addDescription(to router: Router<BasicRequestContext>) {
        router.get("v1/openapi.yaml") { _, _ in
            Reply.text(OpenAPIDocument.text, type: "application/yaml")
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
    /// Every refusal of the gateway, one of each kind.
    static let documented: [StageError] = [
        .tokenInvalid, .tokenRevoked, .tokenIssuerInvalid, .tokenExpired, .tokenGrantsInvalid, .operatorTokenInURL,
        .tokenSignatureInvalid, .tokenNotRevoked,
        .malformed("..."), .invalidParameter("...", "is out of range"), .unknownRoute, WrongMethod.refusal,
        .tooManyRequests(retryAfter: 1), .internalFault, .serverBusy(retryAfter: nil),
        .roomNameInvalid, .roomNameTooLong, .roomNameCharactersInvalid, .roomCreationFailed, .roomFull, .roomNotFound,
        .maximumParticipantsOutOfRange, .roomExists, .roomCompleted,
        .identityInvalid, .identityTooLong, .identityCharactersInvalid, .participantNotFound, .duplicateIdentity,
        .trackNotFound, .trackNameInvalid, .trackNameCharactersInvalid, .trackNameDuplicated,
        .trackCapacityReached("..."), .codecUnsupported("..."), .signallingLost, .sessionTimedOut, .mediaLost,
        .notJoined, .reconnecting, .notAHost, .unknownMode, .tooManyHosts, .changeModeFailed, .readerTooSlow,
        .invitationNotFound, .invitationClosed, .invitationExpired,
        .assetNotFound, .assetFormatUnknown, .assetTooLarge(AssetStore.limit(of: .image)),
        .imageTooLarge(width: 8000, height: 6000), .tooManyAssets(AssetStore.maximumAssets),
        .livestreamNotRunning, .outputInvalid("..."), .livestreamAlreadyStarted, .livestreamInFlight,
        .livestreamLimitReached, .livestreamNotStarted("..."), .livestreamLost("..."),
        .hlsAlreadyStarted, .hlsNotStarted("..."), .hlsNotStopped("..."), .hlsFailed("..."),
        .webhookNotFound, .tooManyWebhooks(20),
    ]

    /// What the refusal means and what to do, for people.
    fileprivate var explanation: String {
        "\(code) \(name) (HTTP \(status))\n\(message).\nCause: \(cause).\nSolution: \(solution).\n"
            + (isRetryable ? "The same request may succeed later.\n" : "")
    }
}
