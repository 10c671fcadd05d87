import ControlAPI
import Stage

/// Makes access tokens with the key of a gateway's data folder, without the gateway running.
public struct TokenMint: Sendable {
    private let directory: DataDirectory

    /// - Parameter dataDirectory: The gateway's data folder; made, with a fresh key, when it is not there.
    public init(dataDirectory: String) throws {
        directory = try DataDirectory(dataDirectory)
    }

    /// A token for a participant of one room.
    ///
    /// - Throws: `StageError` 3067 for an unknown mode.
    public func participantToken(room: String, identity: String, mode: String, expiresIn: Int) async throws -> String {
        guard let mode = ParticipantMode(wireName: mode) else { throw StageError.unknownMode }
        let secrets = try GatewaySecrets(directory)
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        return try await tokens.mint(identity: identity, room: room, mode: mode, expiresIn: Double(expiresIn))
    }
}
