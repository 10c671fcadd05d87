import ControlAPI
import Foundation
import Logging
import ServiceLifecycle

/// Takes up the keys of access tokens when the operator has rotated them or removed a retired one, renews the operator's
/// token in its file, and ends connections whose token is over.
struct SigningKeyService: Service {
    /// Seconds between two looks at the files and at open connections.
    private static let interval = 1.0

    let tokens: AccessTokens
    let directory: DataDirectory
    let retiredKeys: String
    let logger: Logger

    /// Goes on with the keys that are in the files.
    ///
    /// - Parameter known: The keys in force.
    /// - Returns: The keys that are in force now.
    func takeUp(_ known: SigningKeyFiles?) async throws -> SigningKeyFiles? {
        let found = try await directory.onQueue { try SigningKeyFiles(directory, retiredKeys: retiredKeys) }
        guard let files = found, files != known else { return known }
        await tokens.use(signingKey: files.key, kid: files.name, retired: files.retired)
        if let known {
            logger.notice(
                known.name == files.name ? "the retired token keys have changed" : "tokens are signed with a new key",
                metadata: ["key": "\(files.name)", "retired": "\(files.retired.keys.sorted())"]
            )
        }
        return files
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var known: SigningKeyFiles?
            var isReadable = true
            while !Task.isCancelled {
                tokens.revocations.endConnections()
                do {
                    let before = known
                    known = try await takeUp(known)
                    // A rotation writes the token last: the one in the file is looked at when the keys stand still.
                    if known != nil, known == before {
                        Self.log(try await OperatorToken.renew(in: directory, tokens: tokens), to: logger)
                    }
                    isReadable = true
                } catch {
                    if isReadable {
                        logger.error("the keys of tokens cannot be kept", metadata: ["reason": "\(error)"])
                    }
                    isReadable = false
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.interval), tolerance: .milliseconds(200))
            }
        }
    }

    /// Says that the operator's token is another one now, and how long copies of the one before are good.
    static func log(_ outcome: OperatorToken.Outcome, to logger: Logger) {
        guard case .renewed(let end) = outcome else { return }
        let until = end.map { Date(timeIntervalSince1970: $0).formatted(.iso8601) } ?? "not any more"
        logger.warning(
            "operator.token has a new token; replace copies of the one before",
            metadata: ["former_good_until": "\(until)"]
        )
    }
}
