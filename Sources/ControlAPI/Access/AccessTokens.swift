import Crypto
import Foundation
import JWTKit
public import Stage
import Synchronization

/// Makes and checks the tokens of this gateway: JWT, HS256 and nothing else, each key by its name (RFC 8725 section 3.1).
///
/// A copy has the same keys and the same list of revoked tokens as the original, also when they change.
public struct AccessTokens: Sendable {
    /// The audience every token must name.
    public static let audience = "footlight"

    /// Seconds by which clocks may differ.
    static let skew = 30.0
    private static let algorithm = "HS256"
    /// Longer ones are not even taken apart.
    private static let longestToken = 4096
    /// Longest id of a token (`jti`) in bytes; a token with a longer one goes by its digest.
    static let longestID = 128

    /// The keys of one moment.
    private struct KeySet {
        let keys: JWTKeyCollection
        let kid: String
        let knownKids: Set<String>

        init(signingKey: [UInt8], kid: String, retired: [String: [UInt8]]) async {
            keys = JWTKeyCollection()
            self.kid = kid
            knownKids = Set(retired.keys).union([kid])
            for (name, key) in retired {
                await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256, kid: JWKIdentifier(string: name))
            }
            await keys.add(
                hmac: HMACKey(from: signingKey),
                digestAlgorithm: .sha256,
                kid: JWKIdentifier(string: kid)
            )
        }
    }

    /// The keys in force, shared by all copies.
    private final class KeyRing: Sendable {
        let current: Mutex<KeySet>

        init(_ keys: KeySet) {
            current = Mutex(keys)
        }
    }

    /// The tokens that are refused whatever they say.
    public let revocations: TokenRevocations
    private let ring: KeyRing
    private let now: @Sendable () -> Double

    /// Takes the signing keys.
    ///
    /// - Parameters:
    ///   - signingKey: At least 32 random bytes; signs new tokens.
    ///   - kid: The key's name.
    ///   - retired: Keys by name that sign nothing any more but still verify, during a rotation.
    ///   - revocations: The tokens that are refused whatever they say.
    public init(
        signingKey: [UInt8],
        kid: String,
        retired: [String: [UInt8]] = [:],
        revocations: TokenRevocations = TokenRevocations()
    ) async {
        await self.init(signingKey: signingKey, kid: kid, retired: retired, revocations: revocations) {
            Date().timeIntervalSince1970
        }
    }

    /// As above, with the time in seconds since 1970 from elsewhere.
    init(
        signingKey: [UInt8],
        kid: String,
        retired: [String: [UInt8]],
        revocations: TokenRevocations = TokenRevocations(),
        now: @escaping @Sendable () -> Double
    ) async {
        self.revocations = revocations
        self.now = now
        ring = KeyRing(await KeySet(signingKey: signingKey, kid: kid, retired: retired))
    }

    /// Goes on with other keys, after a rotation; on any thread.
    ///
    /// - Parameters:
    ///   - signingKey: As in `init`.
    ///   - kid: As in `init`.
    ///   - retired: As in `init`; a key that is not among them verifies no more, and what is open by tokens of it ends.
    public func use(signingKey: [UInt8], kid: String, retired: [String: [UInt8]]) async {
        let keys = await KeySet(signingKey: signingKey, kid: kid, retired: retired)
        ring.current.withLock { $0 = keys }
        revocations.accept(keys: keys.knownKids)
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

    /// A token that says exactly this, with an id of its own (`jti`) where the claims have none.
    public func mint(_ claims: AccessClaims) async throws -> String {
        let sources = TrackName.allCases.filter { claims.sources.contains($0) }.map(\.rawValue)
        let payload = TokenPayload(
            subject: claims.identity,
            audience: AudienceClaim(value: Self.audience),
            expiresAt: claims.expiresAt.rounded(),
            notBefore: now().rounded(.down),
            issuedAt: now().rounded(.down),
            tokenID: claims.tokenID ?? Self.makeID(),
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
        let current = ring.current.withLock { $0 }
        return try await current.keys.sign(payload, kid: JWKIdentifier(string: current.kid))
    }

    /// `TK` and 32 random hexadecimal digits.
    private static func makeID() -> String {
        "TK" + UUID().uuidString.replacing("-", with: "").lowercased()
    }

    // MARK: Checking

    /// Checks a token and says what it grants.
    ///
    /// - Throws: 20101 unreadable or revoked, 20103 for another audience, 20104 out of its time, 20106 contradictory or unknown
    ///   grants, 20107 wrong signature, key or algorithm.
    public func verify(_ token: String) async throws(StageError) -> AccessClaims {
        let claims = try await claims(of: token)
        if let id = claims.tokenID, revocations.contains(id) { throw .tokenRevoked }
        return claims
    }

    /// As `verify`, for a token that may be revoked.
    func claims(of token: String) async throws(StageError) -> AccessClaims {
        guard token.utf8.count <= Self.longestToken, let header = TokenHeader(token: token) else { throw .tokenInvalid }
        // Checked by hand: the library would fall back to a default key for a name it does not know.
        let current = ring.current.withLock { $0 }
        guard header.alg == Self.algorithm, header.crit == nil, let kid = header.kid, current.knownKids.contains(kid)
        else { throw .tokenSignatureInvalid }
        let payload = try await read(token, with: current.keys)
        guard payload.audience.value.contains(Self.audience) else { throw .tokenIssuerInvalid }
        let now = now()
        guard now < payload.expiresAt + Self.skew, now >= payload.notBefore - Self.skew else { throw .tokenExpired }
        var claims = try claims(of: payload, id: Self.id(of: token, payload))
        claims.keyID = kid
        return claims
    }

    /// By which a token can be revoked: its own id (`jti`), or where it has none a digest of what is signed of it.
    ///
    /// The signature is no part of the digest: it can be written in several ways.
    private static func id(of token: String, _ payload: TokenPayload) -> String {
        if let id = payload.tokenID, (1...longestID).contains(id.utf8.count) { return id }
        let signed = token.utf8.prefix(upTo: token.utf8.lastIndex(of: UInt8(ascii: ".")) ?? token.utf8.endIndex)
        let digest = Data(SHA256.hash(data: Array(signed))).base64EncodedString()
        let text = digest.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "sha256-" + text
    }

    private func read(_ token: String, with keys: JWTKeyCollection) async throws(StageError) -> TokenPayload {
        do {
            return try await keys.verify(token, as: TokenPayload.self)
        } catch let error as JWTError where error.errorType == .signatureVerificationFailed {
            throw .tokenSignatureInvalid
        } catch {
            throw .tokenInvalid
        }
    }

    private func claims(of payload: TokenPayload, id: String) throws(StageError) -> AccessClaims {
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
            tokenID: id
        )
    }
}
