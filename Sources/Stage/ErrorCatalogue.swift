// The errors of the stage and its control API, with code, cause and solution. The codes and names are those that
// clients of the source systems already match on: 53xxx and 201xx from Twilio, the four-digit ones from VideoSDK.

// MARK: Tokens

extension StageError {
    /// 20101: no token, a malformed one, or one signed with a foreign key.
    public static let tokenInvalid = StageError(
        code: 20101,
        name: "AccessTokenInvalidError",
        message: "Invalid Access Token",
        cause: "The request carries no bearer token, or one that cannot be read",
        solution: "Send a token made for this gateway in the Authorization header",
        status: 401
    )
    /// 20101: a token that an operator has revoked.
    public static let tokenRevoked = StageError(
        code: 20101,
        name: "AccessTokenInvalidError",
        message: "Access Token revoked",
        cause: "An operator has revoked the token",
        solution: "Fetch a fresh token",
        status: 401
    )
    /// 20103: made for another audience.
    public static let tokenIssuerInvalid = StageError(
        code: 20103,
        name: "AccessTokenIssuerInvalidError",
        message: "Invalid Access Token issuer or audience",
        cause: "The token was not made for this gateway",
        solution: "Make the token with audience \"footlight\"",
        status: 401
    )
    /// 20104: expired, or not yet valid.
    public static let tokenExpired = StageError(
        code: 20104,
        name: "AccessTokenExpiredError",
        message: "Access Token expired or not yet valid",
        cause: "The time is outside of what the token allows",
        solution: "Fetch a fresh token",
        status: 401
    )
    /// 20106: a valid token without the required grant.
    public static let tokenGrantsInvalid = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "Invalid Access Token grants",
        cause: "The token does not grant this action",
        solution: "Use a token that names the room, mode or right needed",
        status: 403
    )
    /// 20106: an operator's token in a URL, which logs and histories would store.
    public static let operatorTokenInURL = StageError(
        code: 20106,
        name: "AccessTokenGrantsInvalidError",
        message: "An operator's token is not accepted in a URL",
        cause: "URLs end up in logs and histories, and an operator's token opens everything",
        solution: "Send it in the Authorization header; in a URL to watch use a token of the role monitor, relay, "
            + "thumbnail or participant, in that of an event stream a participant's",
        status: 403
    )
    /// 404: the token is not revoked; the code is the HTTP status, because no source system defines one.
    public static let tokenNotRevoked = StageError(
        code: 404,
        name: "TokenNotRevokedError",
        message: "There is no such revoked token",
        cause: "No token of this id is revoked, or its time is over",
        solution: "List the revoked tokens",
        status: 404
    )
    /// 20107: the signature is invalid.
    public static let tokenSignatureInvalid = StageError(
        code: 20107,
        name: "AccessTokenSignatureInvalidError",
        message: "Invalid Access Token signature",
        cause: "The token was changed, or signed with another key or algorithm",
        solution: "Make the token with the gateway's signing key",
        status: 401
    )
}

// MARK: Requests

extension StageError {
    /// 53004: a malformed request body.
    public static func malformed(_ detail: String) -> StageError {
        StageError(
            code: 53004,
            name: "SignalingIncomingMessageInvalidError",
            message: "Malformed request: \(detail)",
            cause: "The request body is not JSON of the expected shape",
            solution: "Correct the named field",
            status: 400
        )
    }

    /// 53004 with status 413: the body exceeds the limit of the route.
    public static let bodyTooLarge = StageError(
        code: 53004,
        name: "SignalingIncomingMessageInvalidError",
        message: "The request body is too large",
        cause: "Bodies are limited to 64 KiB",
        solution: "Send less",
        status: 413
    )

    /// 3073: a value outside of its range.
    public static func invalidParameter(_ field: String, _ rule: String) -> StageError {
        StageError(
            code: 3073,
            name: "INVALID_PARAMETER",
            message: "\(field) \(rule)",
            cause: "A parameter has a value that is not allowed",
            solution: "Correct the named field",
            status: 400
        )
    }

    /// 404: unknown route; the code is the HTTP status, because no source system defines one.
    public static let unknownRoute = StageError(
        code: 404,
        name: "RouteNotFoundError",
        message: "There is nothing at this address",
        cause: "The path or method is not part of the API",
        solution: "Check the address and the method",
        status: 404
    )

    /// 429: rate limit exceeded; the code is the HTTP status, because no source system defines one.
    public static func tooManyRequests(retryAfter: Int) -> StageError {
        StageError(
            code: 429,
            name: "TooManyRequestsError",
            message: "Too many requests",
            cause: "More requests came from this address than it is granted",
            solution: "Ask less often, and wait before the next request",
            status: 429,
            isRetryable: true,
            retryAfter: retryAfter
        )
    }

    /// 500: an internal error.
    public static let internalError = StageError(
        code: 500,
        name: "InternalError",
        message: "The gateway failed to answer",
        cause: "A fault inside the gateway",
        solution: "Try again, and report it if it stays",
        status: 500,
        isRetryable: true
    )

    /// Throws 3073 unless `value` lies in `range`.
    public static func check(_ value: Int, in range: ClosedRange<Int>, field: String) throws(StageError) {
        guard range.contains(value) else {
            throw .invalidParameter(field, "must be between \(range.lowerBound) and \(range.upperBound)")
        }
    }

    /// Throws 3073 unless `value` lies in `range`; NaN does not.
    static func check(_ value: Double, in range: ClosedRange<Double>, field: String) throws(StageError) {
        guard range.contains(value) else {
            throw .invalidParameter(field, "must be between \(text(range.lowerBound)) and \(text(range.upperBound))")
        }
    }

    private static func text(_ bound: Double) -> String {
        bound == bound.rounded() ? "\(Int(bound))" : "\(bound)"
    }
}

// MARK: Rooms

extension StageError {
    /// 53006: the gateway is at its limit.
    public static func serverBusy(retryAfter: Int?) -> StageError {
        StageError(
            code: 53006,
            name: "SignalingServerBusyError",
            message: "Signaling server is busy",
            cause: "The gateway is at its limit of rooms, or shutting down",
            solution: "Try again later",
            status: 503,
            isRetryable: true,
            retryAfter: retryAfter
        )
    }

    /// 53006: as many rooms as the gateway may have.
    public static func tooManyRooms(_ most: Int) -> StageError {
        var error = serverBusy(retryAfter: 10)
        error.message = "The gateway has its most rooms"
        error.cause = "\(most) rooms are open, which is the most that the setting rooms.maximum allows"
        error.solution = "End rooms that are not needed, or raise the setting"
        return error
    }

    /// 53006: the gateway stops.
    public static let shuttingDown = {
        var error = serverBusy(retryAfter: 5)
        error.message = "The gateway is shutting down"
        error.cause = "It accepts no new rooms and joins; what is on air goes on until it stops"
        error.solution = "Try again when it has started again, or at another gateway"
        return error
    }()

    /// 53006: no processor time is left.
    ///
    /// - Parameters:
    ///   - used: The processor cores that programs use.
    ///   - allowed: The cores that they may use.
    public static func processorExhausted(used: Double, allowed: Double, retryAfter: Int) -> StageError {
        func text(_ cores: Double) -> String { "\(Double(Int(cores * 10)) / 10)" }
        var error = serverBusy(retryAfter: retryAfter)
        error.message = "No processor time is left"
        error.cause =
            "The programs of this gateway use \(text(used)) of \(text(allowed)) processor cores, "
            + "and one more host would make all of them worse"
        error.solution =
            "Make a program smaller or slower, end a show that is not needed, or use a larger machine; "
            + "the setting limits.cpu_ceiling is the limit"
        return error
    }

    /// 53100: no name.
    public static let roomNameInvalid = StageError(
        code: 53100,
        name: "RoomNameInvalidError",
        message: "Room name is invalid",
        cause: "The room's name is missing or empty",
        solution: "Give a unique_name",
        status: 400
    )
    /// 53101: more than 64 characters.
    public static let roomNameTooLong = StageError(
        code: 53101,
        name: "RoomNameTooLongError",
        message: "Room name is too long",
        cause: "The room's name has more than 64 characters",
        solution: "Use a shorter unique_name",
        status: 400
    )
    /// 53102: other characters than letters, digits, `_` and `-`.
    public static let roomNameCharactersInvalid = StageError(
        code: 53102,
        name: "RoomNameCharsInvalidError",
        message: "Room name contains invalid characters",
        cause: "The room's name has characters other than A-Z, a-z, 0-9, _ and -",
        solution: "Use only those characters",
        status: 400
    )
    /// 53105: the room is full.
    public static let roomFull = StageError(
        code: 53105,
        name: "RoomMaxParticipantsExceededError",
        message: "Room contains too many Participants",
        cause: "The Room cannot allow in any more Participants to join",
        solution: "Notify the user that the Room is full",
        status: 409
    )
    /// 53106 for a new connection: the room does not exist or has ended.
    public static let roomNotFound = StageError(
        code: 53106,
        name: "RoomNotFoundError",
        message: "Room not found",
        cause: "The room does not exist or has ended",
        solution: "Create the room with the REST API first",
        status: 404
    )
    /// 53106 for a returning client with a session or an event id.
    public static let roomGone = StageError(
        code: 53106,
        name: "RoomNotFoundError",
        message: "Room has ended",
        cause: "The room ended while the connection was lost",
        solution: "Tell the user that the room has ended",
        status: 404
    )
    /// 53107: the limit is out of range.
    public static let maximumParticipantsOutOfRange = StageError(
        code: 53107,
        name: "RoomMaxParticipantsOutOfRangeError",
        message: "Room max participants is out of range",
        cause: "max_participants must be between 1 and 10000",
        solution: "Use a value in that range",
        status: 400
    )
    /// 53113: the name is in use.
    public static let roomExists = StageError(
        code: 53113,
        name: "RoomRoomExistsError",
        message: "Room exists",
        cause: "A room with this unique_name is in progress",
        solution: "Use the existing room or another name",
        status: 409
    )
    /// 53118: ended by command.
    public static let roomCompleted = StageError(
        code: 53118,
        name: "RoomCompletedError",
        message: "Room completed",
        cause: "The room was ended by an operator",
        solution: "Tell the user that the room has ended",
        status: 410
    )
}

// MARK: Several gateways

extension StageError {
    /// 53113: another gateway of the cluster has the name.
    public static func roomExists(at node: String) -> StageError {
        var error = roomExists
        error.message = "Room exists at another gateway"
        error.cause = "The gateway \(node) has a room or show with this name"
        return error
    }

    /// 53440: the gateway that has the room does not answer.
    public static let nodeUnreachable = StageError(
        code: 53440,
        name: "RoomNodeUnreachableError",
        message: "The gateway of this room does not answer",
        cause: "Another gateway of the cluster has the room, and it is stopped or cannot be reached",
        solution: "Try again in a moment; GET /v1/nodes shows the gateways",
        status: 503,
        isRetryable: true,
        retryAfter: 2
    )

    /// 53441: the gateway that has the room ended the connection before its answer.
    public static let nodeFailed = StageError(
        code: 53441,
        name: "RoomNodeFailedError",
        message: "The gateway of this room gave no answer",
        cause: "The request was sent to the gateway that has the room, which may have executed it",
        solution: "Read the state before trying again",
        status: 502,
        isRetryable: true,
        retryAfter: 2
    )

    /// 53442: a forwarded request reached a gateway that does not have the room; gateways never forward twice.
    public static let roomElsewhere = StageError(
        code: 53442,
        name: "RoomElsewhereError",
        message: "This gateway does not have the room",
        cause: "The room belongs to another gateway than the one that forwarded the request knew",
        solution: "Ask any gateway again",
        status: 421
    )

    /// 53443: a name cannot be claimed without the database of the cluster.
    public static let clusterUnavailable = StageError(
        code: 53443,
        name: "ClusterUnavailableError",
        message: "New rooms are not possible at the moment",
        cause: "The database by which the gateways agree who has a room does not answer; rooms in progress go on",
        solution: "Try again in a moment, and check the database if it stays",
        status: 503,
        isRetryable: true,
        retryAfter: 2
    )

    /// 53444: a request claims to come from another gateway and does not prove it.
    public static let nodeSignatureInvalid = StageError(
        code: 53444,
        name: "NodeSignatureInvalidError",
        message: "The signature of the gateway that forwarded this request is not valid",
        cause: "The gateways have different cluster keys, their clocks differ by more than 30 seconds, or it is forged",
        solution: "Give all gateways the same cluster.key file, and keep their clocks synchronised",
        status: 403
    )
}

// MARK: Participants

extension StageError {
    /// 53200: no identity.
    public static let identityInvalid = StageError(
        code: 53200,
        name: "ParticipantIdentityInvalidError",
        message: "Participant identity is invalid",
        cause: "The identity is missing or empty",
        solution: "Give an identity",
        status: 400
    )
    /// 53201: more than 64 characters.
    public static let identityTooLong = StageError(
        code: 53201,
        name: "ParticipantIdentityTooLongError",
        message: "Participant identity is too long",
        cause: "The identity has more than 64 characters",
        solution: "Use a shorter identity",
        status: 400
    )
    /// 53202: other characters than letters, digits, `_` and `-`.
    public static let identityCharactersInvalid = StageError(
        code: 53202,
        name: "ParticipantIdentityCharsInvalidError",
        message: "Participant identity contains invalid characters",
        cause: "The identity has characters other than A-Z, a-z, 0-9, _ and -",
        solution: "Use only those characters",
        status: 400
    )
    /// 53204: no participant with that sid or identity.
    public static let participantNotFound = StageError(
        code: 53204,
        name: "ParticipantNotFoundError",
        message: "Participant not found",
        cause: "No participant of the room has this sid or identity",
        solution: "List the participants",
        status: 404
    )
    /// 53205: sent to the older of two connections with one identity.
    public static let duplicateIdentity = StageError(
        code: 53205,
        name: "ParticipantDuplicateIdentityError",
        message: "Participant disconnected because of duplicate identity",
        cause: "Another client joined the room with the same identity",
        solution: "Use a unique identity for each client",
        status: 409
    )
    /// 3066: only a host publishes.
    public static let notAHost = StageError(
        code: 3066,
        name: "ACTION_NOT_ALLOWED_IN_MODE",
        message: "This participant may not publish",
        cause: "Only a participant in mode SEND_AND_RECV publishes",
        solution: "Change the mode first",
        status: 403
    )
    /// 3067: not one of the three modes.
    public static let unknownMode = StageError(
        code: 3067,
        name: "INVALID_MODE",
        message: "Unknown mode",
        cause: "mode must be SEND_AND_RECV, RECV_ONLY or SIGNALLING_ONLY",
        solution: "Use one of the three",
        status: 400
    )
    /// 4010: the maximum of hosts is reached.
    public static let tooManyHosts = StageError(
        code: 4010,
        name: "MAX_SPEAKER_REACHED",
        message: "The room has its maximum of hosts",
        cause: "max_hosts participants are in mode SEND_AND_RECV",
        solution: "Join as RECV_ONLY, or let a host step down",
        status: 409
    )
    /// 4065: not permitted for this token or participant.
    public static let changeModeFailed = StageError(
        code: 4065,
        name: "CHANGE_MODE_FAILED",
        message: "The mode cannot be changed to this one",
        cause: "The token does not allow the mode, or another person was to be promoted",
        solution: "Use a token that allows the mode; a promotion is done by the participant",
        status: 403
    )
    /// 53001: sent to a slow reader at its end; the reader may reconnect at once and receives a snapshot.
    public static let readerTooSlow = StageError(
        code: 53001,
        name: "SignalingConnectionDisconnectedError",
        message: "The event stream was cut off",
        cause: "The reader fell too far behind",
        solution: "Connect again; a snapshot comes first",
        status: 410,
        isRetryable: true
    )
}

// MARK: Livestreams

extension StageError {
    /// 4014: no livestream to stop or to change.
    public static let livestreamNotRunning = StageError(
        code: 4014,
        name: "STOP_LIVESTREAM_FAILED",
        message: "No livestream is running",
        cause: "The room has no livestream, or no output of that name",
        solution: "Start the livestream first",
        status: 409
    )
    /// 4015: an invalid output.
    public static func outputInvalid(_ detail: String, status: Int = 400) -> StageError {
        StageError(
            code: 4015,
            name: "INVALID_LIVESTREAM_CONFIG",
            message: detail,
            cause: "The outputs of the livestream cannot be used",
            solution: "Correct the named output",
            status: status
        )
    }
    /// 3054: the livestream is running.
    public static let livestreamAlreadyStarted = StageError(
        code: 3054,
        name: "LIVESTREAM_ALREADY_STARTED",
        message: "The livestream already runs",
        cause: "The room is live",
        solution: "Add an output to the running livestream, or stop it first",
        status: 409
    )
}
