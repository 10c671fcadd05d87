/// The reason why a player is not admitted to a private room.
public enum AccessRefusal: String, Sendable, Hashable, CaseIterable {
    /// No passphrase was given.
    case passphraseMissing = "passphrase_missing"
    case passphraseWrong = "passphrase_wrong"
    /// The client gave too many wrong passphrases.
    case tooManyAttempts = "attempts"
    /// Neither a ticket nor an access token was given.
    case ticketMissing = "ticket_missing"
    /// The gateway made no such ticket for the room.
    case ticketUnknown = "ticket_unknown"
    case ticketEarly = "ticket_early"
    case ticketExpired = "ticket_expired"
    case ticketRevoked = "ticket_revoked"
    /// As many devices watch with the ticket as may.
    case ticketInUse = "ticket_in_use"
    /// The bearer of the access token was removed from the room.
    case removed
    case region
    case network
    /// The preview of a room that is backstage is for those who direct it.
    case preview

    /// The error for the player.
    public var error: StageError {
        switch self {
        case .passphraseMissing:
            StageError(
                code: 53410,
                name: "PassphraseRequiredError",
                message: "This program needs a passphrase",
                cause: "No passphrase was given, or it has changed since",
                solution: "Enter the passphrase of the show",
                status: 401
            )
        case .passphraseWrong:
            StageError(
                code: 53411,
                name: "PassphraseWrongError",
                message: "The passphrase is wrong",
                cause: "Another passphrase belongs to this show",
                solution: "Check it, upper and lower case letters included, and enter it again",
                status: 403
            )
        case .tooManyAttempts: Self.attemptsError
        case .ticketMissing:
            StageError(
                code: 53412,
                name: "TicketRequiredError",
                message: "This program needs a ticket",
                cause: "The address has no ticket, and no access token for this room",
                solution: "Open the link of your ticket",
                status: 401
            )
        case .ticketUnknown:
            StageError(
                code: 53413,
                name: "TicketInvalidError",
                message: "This ticket is not valid here",
                cause: "The link is incomplete, or its ticket is for another show",
                solution: "Copy the whole link of your ticket",
                status: 403
            )
        case .ticketEarly:
            StageError(
                code: 53414,
                name: "TicketNotYetValidError",
                message: "This ticket is not valid yet",
                cause: "The time from which it is valid has not come",
                solution: "Come back at the time of the show",
                status: 403
            )
        case .ticketExpired:
            StageError(
                code: 53415,
                name: "TicketExpiredError",
                message: "This ticket has expired",
                cause: "The time until which it was valid is over",
                solution: "Ask for a new ticket",
                status: 403
            )
        case .ticketRevoked:
            StageError(
                code: 53416,
                name: "TicketRevokedError",
                message: "This ticket was revoked",
                cause: "The organizer has withdrawn it",
                solution: "Ask the organizer",
                status: 403
            )
        case .ticketInUse:
            StageError(
                code: 53417,
                name: "TicketInUseError",
                message: "This ticket is in use on other devices",
                cause: "As many devices watch with it as may at once",
                solution: "Stop watching on one of them, or take its place",
                status: 409
            )
        case .removed:
            StageError(
                code: 53412,
                name: "TicketRequiredError",
                message: "This program cannot be watched with this token any more",
                cause: "Its bearer was removed from the room",
                solution: "Ask the organizer",
                status: 403
            )
        case .region: Self.placeError("The program is not offered in your region")
        case .network: Self.placeError("The program is not offered in your network")
        case .preview: Self.previewError
        }
    }

    private static let attemptsError: StageError = {
        var error = StageError.tooManyRequests(retryAfter: 10)
        error.message = "Too many wrong passphrases"
        error.cause = "They came from this address, or from one that it shares"
        error.solution = "Wait ten seconds, and enter the right one"
        return error
    }()

    private static let previewError: StageError = {
        var error = StageError.tokenGrantsInvalid
        error.message = "The preview is not for the audience"
        error.cause = "The address has no monitor token for this room"
        error.solution = "Make one with POST /v1/tokens, or wait until the room goes live"
        return error
    }()

    private static func placeError(_ cause: String) -> StageError {
        StageError(
            code: 53418,
            name: "PlaceNotAllowedError",
            message: "The program cannot be watched from here",
            cause: cause,
            solution: "Ask the organizer",
            status: 403
        )
    }
}
