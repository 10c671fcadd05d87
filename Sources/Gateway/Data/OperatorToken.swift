import ControlAPI
import Foundation

/// The token with which the operator of a fresh gateway begins.
enum OperatorToken {
    static let fileName = "operator.token"
    private static let lifetime = 10.0 * 365 * 86_400

    /// Writes the token at the first start; an existing file is left as it is.
    static func ensure(in directory: DataDirectory, tokens: AccessTokens) async throws {
        guard directory.read(fileName) == nil else { return }
        let token = try await tokens.mintOperator(expiresIn: lifetime)
        try directory.write(Data((token + "\n").utf8), to: fileName, mode: 0o600)
    }
}
