import ControlAPI
import Foundation

/// The token with which the operator of a fresh gateway begins, in a file of the data folder.
enum OperatorToken {
    static let fileName = "operator.token"
    /// Who bears it, in the audit log.
    static let name = "operator"
    /// Seconds for which it is good.
    static let lifetime = 365.0 * 86_400
    /// Seconds before its end at which the file gets a new one, so that nobody who reads the file is ever locked out.
    static let renewal = 14.0 * 86_400

    /// What became of the file.
    enum Outcome: Equatable {
        /// It holds a good token, or there is none.
        case kept
        /// It has a new token; the one before is good until then, in seconds since 1970, or not at all.
        case renewed(formerUntil: Double?)
    }

    /// Writes the token at the first start, and a new one where it ends soon, or is refused.
    static func ensure(in directory: DataDirectory, tokens: AccessTokens) async throws -> Outcome {
        guard try directory.read(fileName) != nil else {
            try await write(to: directory, tokens: tokens)
            return .kept
        }
        return try await renew(in: directory, tokens: tokens)
    }

    /// Writes a new token in place of one that ends soon, or is refused; a file that is not there is not made.
    static func renew(in directory: DataDirectory, tokens: AccessTokens) async throws -> Outcome {
        guard let data = try directory.read(fileName) else { return .kept }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let claims = try? await tokens.verify(text)
        let end = claims?.expiresAt ?? 0
        guard end - Date().timeIntervalSince1970 < renewal else { return .kept }
        try await write(to: directory, tokens: tokens)
        return .renewed(formerUntil: claims?.expiresAt)
    }

    /// Writes a new token, whole or not at all.
    static func write(to directory: DataDirectory, tokens: AccessTokens) async throws {
        let token = try await tokens.mintOperator(identity: name, expiresIn: lifetime)
        try directory.write(Data((token + "\n").utf8), to: fileName, mode: 0o600)
    }
}
