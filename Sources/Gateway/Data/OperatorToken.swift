import ControlAPI
import Foundation

/// The operator's first token, in a file of the data folder.
enum OperatorToken {
    static let fileName = "operator.token"
    /// The token's identity, which the audit log shows.
    static let name = "operator"
    /// The token's lifetime in seconds.
    static let lifetime = 365.0 * 86_400
    /// Seconds before its expiry at which the token in the file is replaced.
    static let renewal = 14.0 * 86_400

    /// The result of checking the file.
    enum Outcome: Equatable {
        /// There was no file: this is the first start.
        case written
        /// The token is valid, or the file does not exist.
        case unchanged
        /// The file has a new token; the former one is valid until this time, in seconds since 1970, or not at all.
        case renewed(formerUntil: Double?)
    }

    /// Writes the token at the first start; replaces one that expires soon or is invalid.
    static func ensure(in directory: DataDirectory, tokens: AccessTokens) async throws -> Outcome {
        guard try directory.read(fileName) != nil else {
            try await write(to: directory, tokens: tokens)
            return .written
        }
        return try await renew(in: directory, tokens: tokens)
    }

    /// Replaces a token that expires soon or is invalid; does not create a missing file.
    static func renew(in directory: DataDirectory, tokens: AccessTokens) async throws -> Outcome {
        guard let data = try directory.read(fileName) else { return .unchanged }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let claims = try? await tokens.verify(text)
        let end = claims?.expiresAt ?? 0
        guard end - Date().timeIntervalSince1970 < renewal else { return .unchanged }
        try await write(to: directory, tokens: tokens)
        return .renewed(formerUntil: claims?.expiresAt)
    }

    /// Writes a new token atomically.
    static func write(to directory: DataDirectory, tokens: AccessTokens) async throws {
        let token = try await tokens.issueOperator(identity: name, expiresIn: lifetime)
        try directory.write(Data((token + "\n").utf8), to: fileName, mode: 0o600)
    }
}
