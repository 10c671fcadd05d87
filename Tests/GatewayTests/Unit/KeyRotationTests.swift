import ControlAPI
import Foundation
import FootlightTesting
@testable import Gateway
import Testing

@Suite("A new key for access tokens")
struct KeyRotationTests {
    private func tokens(_ configuration: GatewayConfiguration) async throws -> AccessTokens {
        let secrets = try GatewaySecrets(DataDirectory(configuration.dataDirectory))
        return await AccessTokens(
            signingKey: secrets.signingKey,
            kid: secrets.signingKeyName,
            retired: try RetiredKeys.load(from: configuration.resolvedRetiredKeys)
        )
    }

    @Test("Tokens of the old key are good until its file is removed, and those of the new key all along")
    func rotates() async throws {
        let folder = try TemporaryFolder("rotation")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        let first = try await tokens(configuration).mintOperator(expiresIn: 600)
        let retired = try KeyRotation(configuration).rotate()
        #expect(retired.hasSuffix("/retired-keys/key1.key"))
        let second = try await tokens(configuration).mintOperator(expiresIn: 600)
        #expect(try await tokens(configuration).verify(first).role == .operator)
        #expect(try await tokens(configuration).verify(second).role == .operator)
        #expect(try KeyRotation(configuration).rotate().hasSuffix("/retired-keys/key2.key"))
        #expect(try await tokens(configuration).verify(second).role == .operator)
        try FileManager.default.removeItem(atPath: retired)
        let present = try await tokens(configuration)
        await #expect(throws: (any Error).self) { try await present.verify(first) }
        #expect(try await present.verify(second).role == .operator)
    }
}
