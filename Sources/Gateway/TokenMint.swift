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
        return try await sign(
            AccessClaims(
                identity: identity,
                role: .participant,
                room: room,
                modes: modes,
                administers: rights,
                expiresAt: Self.date(in: expiresIn)
            )
        )
    }

    /// A token for a machine that looks on or passes the program on, and is never counted for it.
    ///
    /// - Parameters:
    ///   - role: `monitor`, `relay` or `thumbnail`.
    ///   - room: The one room that it is for; nil for all.
    ///   - expiresIn: Seconds from now.
    /// - Throws: `StageError` 20106 for any other role.
    public func machineToken(role: String, identity: String, room: String?, expiresIn: Int) async throws -> String {
        guard let role = AccessRole(rawValue: role), [.monitor, .relay, .thumbnail].contains(role) else {
            throw StageError.tokenGrantsInvalid
        }
        return try await sign(
            AccessClaims(identity: identity, role: role, room: room, expiresAt: Self.date(in: expiresIn))
        )
    }

    /// A token for somebody who runs the gateway.
    ///
    /// - Parameters:
    ///   - name: Who it is, as the audit log names the bearer: 1 to 64 letters, digits, `_` and `-`.
    ///   - lifetime: How long it is good for.
    /// - Throws: `StageError` 3073 for a name that is none.
    public func operatorToken(name: String, lifetime: TokenLifetime) async throws -> String {
        guard NameRule.check(name) == nil else {
            throw StageError.invalidParameter("name", "must be 1 to 64 letters, digits, _ and -")
        }
        return try await sign(
            AccessClaims(identity: name, role: .operator, expiresAt: Self.date(in: lifetime.seconds))
        )
    }

    private func sign(_ claims: AccessClaims) async throws -> String {
        let secrets = try GatewaySecrets(directory)
        let tokens = await AccessTokens(signingKey: secrets.signingKey, kid: secrets.signingKeyName)
        return try await tokens.mint(claims)
    }

    private static func date(in seconds: Int) -> Double {
        Date().timeIntervalSince1970 + Double(seconds)
    }
}
