import ControlAPI
import Foundation
import Stage

/// Issues access tokens with the signing key of a data folder, without a running gateway.
public struct TokenIssuer: Sendable {
    private let directory: DataDirectory

    /// - Parameter dataDirectory: The gateway's data folder; created with a new key if it does not exist.
    public init(dataDirectory: String) throws {
        directory = try DataDirectory(dataDirectory)
    }

    /// Issues a token for a participant of one room.
    ///
    /// - Parameters:
    ///   - modes: The allowed modes; the first is the default when joining.
    ///   - rights: Administrative rights: `streaming`, `participants`.
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

    /// Issues a token for a machine that monitors or forwards the program, and never counts as a viewer.
    ///
    /// - Parameters:
    ///   - role: `monitor`, `relay` or `thumbnail`.
    ///   - room: The only room of the token; nil for all rooms.
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

    /// Issues a token for an operator.
    ///
    /// - Parameters:
    ///   - name: The identity in the audit log: 1 to 64 letters, digits, `_` and `-`.
    ///   - lifetime: The lifetime of the token.
    /// - Throws: `StageError` 3073 for an invalid name.
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
        return try await tokens.issue(claims)
    }

    private static func date(in seconds: Int) -> Double {
        Date().timeIntervalSince1970 + Double(seconds)
    }
}

/// The lifetime of a token, written as `90d`, `12h`, `30m` or `45s`.
public struct TokenLifetime: Sendable, Hashable {
    /// The longest lifetime in seconds, ten years.
    public static let longest = 3650 * 86_400

    /// The lifetime in seconds, from 1 to `longest`.
    public let seconds: Int

    /// Parses a number with a unit; nil for invalid text and for lifetimes out of range.
    public init?(_ text: String) {
        guard let unit = text.last.flatMap({ Self.units[$0] }), let number = Int(text.dropLast()) else { return nil }
        let (seconds, isTooLarge) = number.multipliedReportingOverflow(by: unit)
        guard !isTooLarge else { return nil }
        self.init(seconds: seconds)
    }

    /// Makes a lifetime from seconds; nil if out of range.
    public init?(seconds: Int) {
        guard (1...Self.longest).contains(seconds) else { return nil }
        self.seconds = seconds
    }

    private static let units: [Character: Int] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
}
