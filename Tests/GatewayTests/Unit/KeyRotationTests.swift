import ControlAPI
import Foundation
@testable import Gateway
import Logging
import Stage
import TestSupport
import Testing

@Suite("Rotation of the token signing key")
struct KeyRotationTests {
    private func tokens(_ configuration: GatewayConfiguration) async throws -> AccessTokens {
        let secrets = try GatewaySecrets(DataDirectory(configuration.dataDirectory))
        return await AccessTokens(
            signingKey: secrets.signingKey,
            kid: secrets.signingKeyName,
            retired: try RetiredKeys.load(from: configuration.resolvedRetiredKeys)
        )
    }

    @Test("tokens of the old key are valid until its file is removed")
    func rotates() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        let first = try await tokens(configuration).issueOperator(expiresIn: 600)
        let retired = try await KeyRotation(configuration).rotate()
        #expect(retired.hasSuffix("/retired-keys/key1.key"))
        let second = try await tokens(configuration).issueOperator(expiresIn: 600)
        #expect(try await tokens(configuration).verify(first).role == .operator)
        #expect(try await tokens(configuration).verify(second).role == .operator)
        #expect(try await KeyRotation(configuration).rotate().hasSuffix("/retired-keys/key2.key"))
        #expect(try await tokens(configuration).verify(second).role == .operator)
        try FileManager.default.removeItem(atPath: retired)
        let present = try await tokens(configuration)
        await #expect(throws: (any Error).self) { try await present.verify(first) }
        #expect(try await present.verify(second).role == .operator)
    }

    private func operatorToken(_ configuration: GatewayConfiguration) throws -> String {
        let data = try DataDirectory(configuration.dataDirectory).read(OperatorToken.fileName)
        return String(decoding: try #require(data), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test("a rotation writes an operator token of the new key for the owner only")
    func operatorsToken() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        let directory = try DataDirectory(configuration.dataDirectory)
        _ = try await OperatorToken.ensure(in: directory, tokens: tokens(configuration))
        let first = try operatorToken(configuration)
        let retired = try await KeyRotation(configuration).rotate()
        try FileManager.default.removeItem(atPath: retired)
        let second = try operatorToken(configuration)
        #expect(second != first)
        let present = try await tokens(configuration)
        #expect(try await present.verify(second).role == .operator)
        await #expect(throws: StageError.tokenSignatureInvalid) { try await present.verify(first) }
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.filePath(OperatorToken.fileName))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("a running gateway loads a complete new key, and discards a removed one")
    func loadsNewKey() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        let directory = try DataDirectory(configuration.dataDirectory)
        let running = try await tokens(configuration)
        let service = SigningKeyService(
            tokens: running,
            directory: directory,
            retiredKeys: configuration.resolvedRetiredKeys,
            logger: Logger(label: "t") { _ in SwiftLogNoOpLogHandler() }
        )
        var known = try await service.reload(nil)
        #expect(known?.name == "key1")
        let first = try await running.issueOperator(expiresIn: 600)
        let retired = try await KeyRotation(configuration).rotate()

        // The state between the writes of name and key.
        let key = try #require(try directory.read("signing.key"))
        let old = try Data(contentsOf: URL(fileURLWithPath: retired))
        try directory.write(old, to: "signing.key", mode: 0o600)
        known = try await service.reload(known)
        #expect(known?.name == "key1")
        #expect(try await running.verify(running.issueOperator(expiresIn: 600)).role == .operator)
        try directory.write(key, to: "signing.key", mode: 0o600)

        known = try await service.reload(known)
        #expect(known?.name == "key2")
        #expect(try await running.verify(operatorToken(configuration)).identity == "operator")
        #expect(try await running.verify(first).role == .operator)
        try FileManager.default.removeItem(atPath: retired)
        known = try await service.reload(known)
        await #expect(throws: StageError.tokenSignatureInvalid) { try await running.verify(first) }
        #expect(try await running.verify(operatorToken(configuration)).identity == "operator")

        // An unreadable name must not be taken for the first one.
        directory.remove("signing.kid")
        let path = directory.filePath("signing.kid")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        do {
            known = try await service.reload(known)
            Issue.record("taken up")
        } catch {
            #expect(error is DataDirectoryError)
        }
        #expect(try await running.verify(operatorToken(configuration)).identity == "operator")
    }

    @Test("renews operator.token two weeks before its expiry, when revoked, and when damaged")
    func renewed() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        let directory = try DataDirectory(configuration.dataDirectory)
        let tokens = try await tokens(configuration)
        #expect(
            try await OperatorToken.renew(in: directory, tokens: tokens) == .unchanged,
            "one that is not there is not made"
        )
        #expect(try directory.read(OperatorToken.fileName) == nil)
        #expect(try await OperatorToken.ensure(in: directory, tokens: tokens) == .written)
        let first = try operatorToken(configuration)
        let claims = try await tokens.verify(first)
        let days = (claims.expiresAt - Date().timeIntervalSince1970) / 86_400
        #expect(claims.identity == "operator" && claims.role == .operator && (364.9...365.1).contains(days))
        #expect(try await OperatorToken.ensure(in: directory, tokens: tokens) == .unchanged)
        #expect(try operatorToken(configuration) == first)

        let ending = try await tokens.issueOperator(expiresIn: 13 * 86_400)
        let end = try await tokens.verify(ending).expiresAt
        try directory.write(Data((ending + "\n").utf8), to: OperatorToken.fileName, mode: 0o600)
        #expect(try await OperatorToken.renew(in: directory, tokens: tokens) == .renewed(formerUntil: end))
        let second = try operatorToken(configuration)
        #expect(try await tokens.verify(second).role == .operator && second != ending)

        let id = try #require(try await tokens.verify(second).tokenID)
        try await tokens.revocations.revoke(RevokedToken(id: id, revokedAt: 0, revokedBy: "x", expiresAt: end + 1e9))
        #expect(try await OperatorToken.ensure(in: directory, tokens: tokens) == .renewed(formerUntil: nil))
        #expect(try await tokens.verify(operatorToken(configuration)).role == .operator)

        try directory.write(Data(), to: OperatorToken.fileName, mode: 0o600)
        #expect(try await OperatorToken.ensure(in: directory, tokens: tokens) == .renewed(formerUntil: nil))
        #expect(try await tokens.verify(operatorToken(configuration)).role == .operator)
    }

    @Test("a token lifetime is a number with a unit, up to ten years")
    func lifetimes() {
        for (text, seconds) in [
            ("90d", 7_776_000), ("12h", 43_200), ("30m", 1800), ("45s", 45), ("3650d", 315_360_000),
        ] {
            #expect(TokenLifetime(text)?.seconds == seconds, "\(text)")
        }
        for text in ["", "d", "90", "0d", "-1d", "1.5d", "3651d", "9223372036854775807d", "90 d", "90x"] {
            #expect(TokenLifetime(text) == nil, "\(text)")
        }
    }

    @Test("the key id with the highest number has a successor")
    func highestNumber() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        _ = try await KeyRotation(configuration).rotate()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("data"))
        let file = try #require(
            names.first { (try? String(contentsOfFile: folder.file("data/\($0)"), encoding: .utf8)) == "key2\n" }
        )
        try Data("key9223372036854775807\n".utf8).write(to: URL(fileURLWithPath: folder.file("data/\(file)")))
        let retired = try await KeyRotation(configuration).rotate()
        #expect(retired.hasSuffix("/retired-keys/key9223372036854775807.key"))
    }
}
