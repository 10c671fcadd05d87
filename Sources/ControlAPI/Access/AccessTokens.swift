import Foundation
import JWTKit
public import Stage

/// Makes and checks the tokens of this gateway: JWT, HS256 and nothing else, each key by its name (RFC 8725 section 3.1).
public struct AccessTokens: Sendable {
    /// The audience every token must name.
    public static let audience = "footlight"

    /// Seconds by which clocks may differ.
    static let skew = 30.0
    private static let algorithm = "HS256"
    /// Longer ones are not even taken apart.
    private static let longestToken = 4096

    private let keys: JWTKeyCollection
    private let kid: String
    private let knownKids: Set<String>
    private let isRevoked: @Sendable (String) -> Bool
    private let now: @Sendable () -> Double

    /// Takes the signing keys.
    ///
    /// - Parameters:
    ///   - signingKey: At least 32 random bytes; signs new tokens.
    ///   - kid: The key's name.
    ///   - retired: Keys by name that sign nothing any more but still verify, during a rotation.
    ///   - isRevoked: Whether the token of an id (`jti`) was taken back; asked at each check.
    public init(
        signingKey: [UInt8],
        kid: String,
        retired: [String: [UInt8]] = [:],
        isRevoked: @escaping @Sendable (String) -> Bool = { _ in false }
    ) async {
        await self.init(signingKey: signingKey, kid: kid, retired: retired, isRevoked: isRevoked) {
            Date().timeIntervalSince1970
        }
    }

    /// As above, with the time in seconds since 1970 from elsewhere.
    init(
        signingKey: [UInt8],
        kid: String,
        retired: [String: [UInt8]],
        isRevoked: @escaping @Sendable (String) -> Bool = { _ in false },
        now: @escaping @Sendable () -> Double
    ) async {
        keys = JWTKeyCollection()
        self.kid = kid
        self.isRevoked = isRevoked
        self.now = now
        knownKids = Set(retired.keys).union([kid])
        for (name, key) in retired {
            await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256, kid: JWKIdentifier(string: name))
        }
        await keys.add(hmac: HMACKey(from: signingKey), digestAlgorithm: .sha256, kid: JWKIdentifier(string: kid))
    }

    // MARK: Making

    /// A token for whoever runs the gateway.
    ///
    /// - Parameter expiresIn: Seconds from now.
    public func mintOperator(identity: String = "operator", expiresIn: Double) async throws -> String {
        try await mint(
            AccessClaims(identity: identity, role: .operator, expiresAt: now() + expiresIn)
        )
    }

    /// A token for one bearer in one room.
    ///
    /// - Parameters:
    ///   - identity: Who the bearer is.
    ///   - room: The room's unique name or sid.
    ///   - mode: What a participant may join as; other roles have none.
    ///   - role: What kind of bearer it is.
    ///   - epoch: The run of the program that a mixer publishes.
    ///   - expiresIn: Seconds from now.
    public func mint(
        identity: String,
        room: String,
        mode: ParticipantMode? = nil,
        role: AccessRole = .participant,
        epoch: UInt64? = nil,
        expiresIn: Double
    ) async throws -> String {
        try await mint(
            AccessClaims(
                identity: identity,
                role: role,
                room: room,
                modes: mode.map { [$0] } ?? [],
                epoch: epoch,
                expiresAt: now() + expiresIn
            )
        )
    }

    /// A token that says exactly this.
    public func mint(_ claims: AccessClaims) async throws -> String {
        let sources = TrackName.allCases.filter { claims.sources.contains($0) }.map(\.rawValue)
        let payload = TokenPayload(
            subject: claims.identity,
            audience: AudienceClaim(value: Self.audience),
            expiresAt: claims.expiresAt.rounded(),
            notBefore: now().rounded(.down),
            issuedAt: now().rounded(.down),
            tokenID: claims.tokenID,
            footlight: TokenPayload.Grants(
                role: claims.role.rawValue,
                room: claims.room,
                mode: claims.modes.first?.rawValue,
                allowedModes: claims.modes.count > 1 ? claims.modes.map(\.rawValue) : nil,
                administers: claims.administers.isEmpty ? nil : claims.administers.sorted(),
                epoch: claims.epoch,
                publishing: sources.isEmpty && claims.maximumBitrate == nil
                    ? nil : .init(sources: sources, maximumBitrate: claims.maximumBitrate)
            )
        )
        return try await keys.sign(payload, kid: JWKIdentifier(string: kid))
    }

    // MARK: Checking

    /// Checks a token and says what it grants.
    ///
    /// - Throws: 20101 unreadable or taken back, 20103 for another audience, 20104 out of its time, 20106 contradictory or unknown
    ///   grants, 20107 wrong signature, key or algorithm.
    public func verify(_ token: String) async throws(StageError) -> AccessClaims {
        guard token.utf8.count <= Self.longestToken, let header = TokenHeader(token: token) else { throw .tokenInvalid }
        // Checked by hand: the library would fall back to a default key for a name it does not know.
        guard header.alg == Self.algorithm, header.crit == nil, let kid = header.kid, knownKids.contains(kid) else {
            throw .tokenSignatureInvalid
        }
        let payload = try await read(token)
        guard payload.audience.value.contains(Self.audience) else { throw .tokenIssuerInvalid }
        let now = now()
        guard now < payload.expiresAt + Self.skew, now >= payload.notBefore - Self.skew else { throw .tokenExpired }
        if let id = payload.tokenID, isRevoked(id) { throw .tokenInvalid }
        return try claims(of: payload)
    }

    private func read(_ token: String) async throws(StageError) -> TokenPayload {
        do {
            return try await keys.verify(token, as: TokenPayload.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw .tokenSignatureInvalid
        } catch {
            throw .tokenInvalid
        }
    }

    private func claims(of payload: TokenPayload) throws(StageError) -> AccessClaims {
        let grants = payload.footlight
        let names = (grants.mode.map { [$0] } ?? []) + (grants.allowedModes ?? []).filter { $0 != grants.mode }
        let modes = names.compactMap(ParticipantMode.init(wireName:))
        let sourceNames = grants.publishing?.sources ?? []
        let sources = Set(sourceNames.compactMap({ TrackName(named: $0) }))
        guard
            let role = AccessRole(rawValue: grants.role ?? AccessRole.participant.rawValue),
            modes.count == names.count,
            sourceNames.allSatisfy({ TrackName(named: $0) != nil }),
            (grants.publishing?.maximumBitrate ?? 1) > 0,
            !payload.subject.isEmpty
        else { throw .tokenGrantsInvalid }
        // A token that lets nobody publish and yet names what to publish was made by mistake; which half is meant is
        // not for us to guess.
        if !modes.contains(.sendAndReceive), !sources.isEmpty { throw .tokenGrantsInvalid }
        switch role {
        case .operator, .monitor, .relay, .thumbnail:
            break
        case .participant:
            guard grants.room != nil, !modes.isEmpty else { throw .tokenGrantsInvalid }
        case .mixer:
            guard grants.room != nil else { throw .tokenGrantsInvalid }
        }
        return AccessClaims(
            identity: payload.subject,
            role: role,
            room: grants.room,
            modes: modes,
            sources: sources,
            maximumBitrate: grants.publishing?.maximumBitrate,
            administers: Set(grants.administers ?? []),
            epoch: grants.epoch,
            expiresAt: payload.expiresAt,
            tokenID: payload.tokenID
        )
    }
}
