import HTTPTypes
import Hummingbird
import Logging
import Stage

/// Logs one line for each command: bearer, action and outcome; never a body, a query, a key or a token.
struct AuditLog: Sendable {
    let logger: Logger

    /// Maximum length in bytes of a logged path component.
    private static let maximumNameLength = 64

    func record(_ request: Request, _ context: BasicRequestContext, by claims: AccessClaims?, outcome: Outcome) {
        var metadata: Logger.Metadata = [
            "action": "\(request.method.rawValue) \(context.endpointPath ?? "-")",
            "who": .string(claims.map { Self.safe($0.identity) } ?? "-"),
            "role": .string(claims?.role.rawValue ?? "-"),
        ]
        for name in [
            "room", "participant", "track", "output", "invitation", "asset", "recording", "webhook", "token", "show",
            "episode", "identity",
        ] {
            if let value = context.parameters.get(name) { metadata["\(name)"] = .string(Self.safe(value)) }
        }
        if let id = claims?.tokenID { metadata["token_id"] = .string(Self.safe(id)) }
        switch outcome {
        case .done(let status):
            metadata["outcome"] = "\(status)"
            logger.info("command done", metadata: metadata)
        case .refused(let error):
            metadata["outcome"] = "\(error.status)"
            metadata["code"] = "\(error.code)"
            logger.notice("command refused", metadata: metadata)
        case .failed(let error):
            metadata["outcome"] = "500"
            // The error's text may contain client input; the type is sufficient.
            metadata["error"] = "\(type(of: error))"
            logger.error("command failed", metadata: metadata)
        }
    }

    /// Logs that a token is revoked; the log line of the command does not contain its id.
    func revoked(_ token: RevokedToken, by claims: AccessClaims) {
        logger.notice(
            "token revoked",
            metadata: [
                "token_id": .string(Self.safe(token.id)),
                "of": .string(token.identity.map(Self.safe) ?? "-"),
                "by": .string(Self.safe(claims.identity)),
            ]
        )
    }

    /// Logs that a change was confirmed although the room could not be persisted.
    func notPersisted(_ room: some NamedRoom, _ error: any Error) {
        logger.error("room not kept", metadata: ["room": "\(room.sid)", "error": "\(type(of: error))"])
    }

    enum Outcome {
        case done(Int)
        case refused(StageError)
        case failed(any Error)
    }

    /// Returns names and ids unchanged, and only the length of any other text, which may be a misplaced secret.
    private static func safe(_ text: String) -> String {
        let isName = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default:
                false
            }
        }
        guard isName, text.utf8.count <= maximumNameLength, !text.hasPrefix("sk_") else {
            return "(\(text.utf8.count) bytes)"
        }
        return text
    }
}
