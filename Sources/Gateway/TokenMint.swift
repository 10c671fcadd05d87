import ControlAPI
import Foundation
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
    /// - Parameters:
    ///   - modes: What the participant may be; the first is what it joins as unless it says otherwise.
    ///   - rights: What it may do beyond its own: `streaming`, `participants`.
    ///   - expiresIn: Seconds from now.
    /// - Throws: `StageError` 3067 for an unknown mode.
    public func participantToken(
        room: String,
        identity: String,
        modes: [String],
        rights: Set<String> = [],
        expiresIn: Int
    ) async throws -> String {
        let modes = try modes.map { name in
            guard let mode = ParticipantMode(wireName: name) else { throw StageError.unknownMode }
            return mode
        }
        let secrets = try GatewaySecrets(directory)
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        return try await tokens.mint(
            AccessClaims(
                identity: identity,
                role: .participant,
                room: room,
                modes: modes,
                administers: rights,
                expiresAt: Date().timeIntervalSince1970 + Double(expiresIn)
            )
        )
    }
}
