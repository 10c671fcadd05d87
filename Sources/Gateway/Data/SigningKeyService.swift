import ControlAPI
import Foundation
import Logging
import ServiceLifecycle

/// Reloads the keys of access tokens after changes, renews the operator's token file, and closes connections whose
/// token has expired.
struct SigningKeyService: Service {
    /// Seconds between two checks of the files and of open connections.
    private static let interval = 1.0

    let tokens: AccessTokens
    let directory: DataDirectory
    let retiredKeys: String
    let logger: Logger

    /// Applies the keys of the files if they have changed.
    ///
    /// - Parameter known: The present keys.
    /// - Returns: The keys that are valid now.
    func reload(_ known: SigningKeyFiles?) async throws -> SigningKeyFiles? {
        let found = try await directory.onQueue { try SigningKeyFiles(directory, retiredKeys: retiredKeys) }
        guard let files = found, files != known else { return known }
        await tokens.use(signingKey: files.key, kid: files.name, retired: files.retired)
        if let known {
            logger.notice(
                known.name == files.name ? "retired token keys changed" : "token signing key changed",
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
                    known = try await reload(known)
                    // A rotation writes the token last: check it only when the keys are stable.
                    if known != nil, known == before {
                        Self.log(try await OperatorToken.renew(in: directory, tokens: tokens), to: logger)
                    }
                    isReadable = true
                } catch {
                    if isReadable {
                        logger.error("token keys cannot be loaded", metadata: ["reason": "\(error)"])
                    }
                    isReadable = false
                }
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.interval), tolerance: .milliseconds(200))
            }
        }
    }

    /// Logs that the operator's token was replaced, and until when the former one is valid.
    static func log(_ outcome: OperatorToken.Outcome, to logger: Logger) {
        guard case .renewed(let end) = outcome else { return }
        let until = end.map { Date(timeIntervalSince1970: $0).formatted(.iso8601) } ?? "not any more"
        logger.warning(
            "operator.token was replaced; replace copies of the former token",
            metadata: ["former_good_until": "\(until)"]
        )
    }
}

/// A snapshot of the keys of access tokens in the data folder.
struct SigningKeyFiles: Equatable {
    let name: String
    let key: [UInt8]
    let retired: [String: [UInt8]]

    /// Reads the keys; nil during a rotation.
    ///
    /// - Parameter retiredKeys: The folder of the retired keys.
    /// - Throws: The error of a damaged or unreadable file.
    init?(_ directory: DataDirectory, retiredKeys: String) throws {
        name = try KeyRotation.currentName(in: directory)
        key = try directory.secret(KeyRotation.secretName, for: [OperatorToken.fileName])
        retired = try RetiredKeys.load(from: retiredKeys)
        // A rotation writes the name before the key: in between, the key is still the retired one.
        guard try KeyRotation.currentName(in: directory) == name, !retired.values.contains(key) else { return nil }
    }
}

/// Replaces the key that signs access tokens; tokens of the old key stay valid until its file is removed.
public struct KeyRotation: Sendable {
    static let secretName = "signing"
    private static let nameFile = "signing.kid"
    private static let keyFile = "signing.key"
    private static let firstName = "key1"

    private let directory: DataDirectory
    private let retiredKeys: String

    /// Prepares a rotation without changing any file.
    ///
    /// - Parameter configuration: The configuration with the folders of the keys.
    public init(_ configuration: GatewayConfiguration) throws {
        directory = try DataDirectory(configuration.dataDirectory)
        retiredKeys = configuration.resolvedRetiredKeys
    }

    /// Returns the key id (`kid`) of the signing key.
    ///
    /// - Throws: The read error, because a wrong key id would invalidate every token.
    static func currentName(in directory: DataDirectory) throws -> String {
        let text = try directory.read(nameFile).map { String(decoding: $0, as: UTF8.self) } ?? ""
        let name = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return name.isEmpty ? firstName : name
    }

    /// Retires the signing key and creates a new one; a running gateway loads it within seconds.
    ///
    /// The operator's token is written again, signed with the new key.
    ///
    /// - Returns: The path of the retired key.
    /// - Throws: `DataDirectoryError`; the files are consistent then, and another rotation completes the change.
    public func rotate() async throws -> String {
        let old = try Self.currentName(in: directory)
        // Creates the key if there is none; the code below needs its file.
        _ = try directory.secret(Self.secretName, for: [OperatorToken.fileName])
        guard let key = try directory.read(Self.keyFile) else {
            throw DataDirectoryError.unreadable(directory.filePath(Self.keyFile))
        }
        let retired = try DataDirectory(retiredKeys)
        try retired.write(key, to: old + ".key", mode: 0o600)
        // In this order a crash in between leaves neither two keys with one id nor a moment without a key.
        let number = Int(old.drop { !$0.isNumber }) ?? 1
        let name = "key\(number < .max ? number + 1 : 1)"
        try directory.write(Data("\(name)\n".utf8), to: Self.nameFile, mode: 0o600)
        let signingKey = try directory.makeSecret(Self.secretName)
        let tokens = await AccessTokens(signingKey: signingKey, kid: name)
        try await OperatorToken.write(to: directory, tokens: tokens)
        return retired.filePath(old + ".key")
    }
}
