import Crypto
import Foundation
import JWTKit
public import Stage
import Synchronization

/// Issues and verifies the gateway's access tokens: JWT with HS256 only, each key by its id (RFC 8725 section 3.1).
///
/// Copies share the keys and the list of revoked tokens, including later changes.
public struct AccessTokens: Sendable {
    /// The `aud` claim that every token must contain.
    public static let audience = "footlight"

    /// Tolerated clock skew in seconds.
    static let skew = 30.0
    private static let algorithm = "HS256"
    /// Maximum length in bytes; longer tokens are refused without parsing.
    private static let maximumTokenLength = 4096
    /// Maximum length of a token id (`jti`) in bytes; a token with a longer id is identified by its digest.
    static let maximumIDLength = 128

    /// The id of the key that signs mixers' tokens.
    private static let mixerKid = "mixer"

    /// An immutable set of keys.
    private struct KeySet {
        let keys: JWTKeyCollection
        let kid: String
        let validKids: Set<String>

        init(signingKey: [UInt8], kid: String, retired: [String: [UInt8]], mixerKey: [UInt8]) async {
            keys = JWTKeyCollection()
            self.kid = kid
            validKids = Set(retired.keys).union([kid, mixerKid])
            await keys.add(
                hmac: HMACKey(from: mixerKey),
                digestAlgorithm: .sha256,
                kid: JWKIdentifier(string: mixerKid)
            )
            for (name, key) in retired where name != mixerKid {
                await keys.add(hmac: HMACKey(from: key), digestAlgorithm: .sha256, kid: JWKIdentifier(string: name))
            }
            await keys.add(
                hmac: HMACKey(from: signingKey),
                digestAlgorithm: .sha256,
                kid: JWKIdentifier(string: kid)
            )
        }
    }

    /// The current keys, shared by all copies.
    private final class KeyRing: Sendable {
        let current: Mutex<KeySet>

        init(_ keys: KeySet) {
            current = Mutex(keys)
        }
    }

    /// The tokens that are refused although they are valid.
    public let revocations: TokenRevocations
    private let ring: KeyRing
    /// The key that signs mixers' tokens.
    ///
    /// The process makes it, which mixers do not outlive, so that a rotation of the signing key leaves them as they are.
    private let mixerKey = SymmetricKey(size: .bits256).withUnsafeBytes { [UInt8]($0) }
    private let now: @Sendable () -> Double

    /// Creates an issuer and verifier with signing keys.
    ///
    /// - Parameters:
    ///   - signingKey: The key that signs new tokens: at least 32 random bytes.
    ///   - kid: The key's id.
    ///   - retired: Keys by id that no longer sign but still verify, during a rotation.
    ///   - revocations: The list of revoked tokens.
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

    /// Creates an issuer and verifier with a clock that returns seconds since 1970.
    init(
        signingKey: [UInt8],
        kid: String,
        retired: [String: [UInt8]],
        revocations: TokenRevocations = TokenRevocations(),
        now: @escaping @Sendable () -> Double
    ) async {
        self.revocations = revocations
        self.now = now
        ring = KeyRing(await KeySet(signingKey: signingKey, kid: kid, retired: retired, mixerKey: mixerKey))
    }

    /// Replaces the keys after a rotation; may be called on any thread.
    ///
    /// - Parameters:
    ///   - signingKey: As in `init`.
    ///   - kid: As in `init`.
    ///   - retired: As in `init`. Tokens of any other key no longer verify, and their open connections are closed.
    public func use(signingKey: [UInt8], kid: String, retired: [String: [UInt8]]) async {
        let keys = await KeySet(signingKey: signingKey, kid: kid, retired: retired, mixerKey: mixerKey)
        ring.current.withLock { $0 = keys }
        revocations.accept(keys: keys.validKids)
    }

    // MARK: Issuing

    /// Issues an operator token.
    ///
    /// - Parameter expiresIn: Seconds from now.
    public func issueOperator(identity: String = "operator", expiresIn: Double) async throws -> String {
        try await issue(
            AccessClaims(identity: identity, role: .operator, expiresAt: now() + expiresIn)
        )
    }

    /// Issues a token for one bearer in one room.
    ///
    /// - Parameters:
    ///   - identity: The bearer's identity.
    ///   - room: The room's unique name or sid.
    ///   - mode: The mode that a participant may join in; nil for other roles.
    ///   - role: The bearer's role.
    ///   - epoch: The epoch of the program that a mixer publishes.
    ///   - expiresIn: Seconds from now.
    public func issue(
        identity: String,
        room: String,
        mode: ParticipantMode? = nil,
        role: AccessRole = .participant,
        epoch: UInt64? = nil,
        expiresIn: Double
    ) async throws -> String {
        try await issue(
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

    /// Issues a token for a mixer that this process starts; it remains valid when the signing key is replaced.
    ///
    /// - Parameters:
    ///   - room: The room's unique name or sid.
    ///   - epoch: The epoch of the program that the mixer publishes.
    ///   - expiresIn: Seconds from now.
    public func issueMixer(room: String, epoch: UInt64, expiresIn: Double) async throws -> String {
        let claims = AccessClaims(
            identity: "mixer",
            role: .mixer,
            room: room,
            epoch: epoch,
            expiresAt: now() + expiresIn
        )
        return try await issue(claims, kid: Self.mixerKid)
    }

    /// Issues a token with the given claims; a token id (`jti`) is generated if they have none.
    public func issue(_ claims: AccessClaims) async throws -> String {
        try await issue(claims, kid: nil)
    }

    /// - Parameter kid: The id of the key that signs it; nil for the signing key.
    private func issue(_ claims: AccessClaims, kid: String?) async throws -> String {
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
        return try await current.keys.sign(payload, kid: JWKIdentifier(string: kid ?? current.kid))
    }

    /// Returns `TK` and 32 random hexadecimal digits.
    static func makeID() -> String {
        "TK" + UUID().uuidString.replacing("-", with: "").lowercased()
    }

    // MARK: Verification

    /// Verifies a token and returns its claims.
    ///
    /// - Throws: 20101 if unreadable or revoked, 20103 for another audience, 20104 if expired or not yet valid, 20106
    ///   for contradictory or unknown grants, 20107 for an invalid signature, key or algorithm.
    public func verify(_ token: String) async throws(StageError) -> AccessClaims {
        let claims = try await claims(of: token)
        if let id = claims.tokenID, revocations.contains(id) { throw .tokenRevoked }
        return claims
    }

    /// Verifies a token as `verify` does, but accepts a revoked one.
    func claims(of token: String) async throws(StageError) -> AccessClaims {
        guard token.utf8.count <= Self.maximumTokenLength, let header = TokenHeader(token: token) else {
            throw .tokenInvalid
        }
        // Checked here: JWTKit would use a default key for an unknown key id.
        let current = ring.current.withLock { $0 }
        guard header.alg == Self.algorithm, header.crit == nil, let kid = header.kid, current.validKids.contains(kid)
        else { throw .tokenSignatureInvalid }
        let payload = try await read(token, with: current.keys)
        guard payload.audience.value.contains(Self.audience) else { throw .tokenIssuerInvalid }
        let now = now()
        guard now < payload.expiresAt + Self.skew, now >= payload.notBefore - Self.skew else { throw .tokenExpired }
        var claims = try claims(of: payload, id: Self.id(of: token, payload))
        claims.keyID = kid
        return claims
    }

    /// Returns the id by which a token can be revoked: its `jti`, or a digest of its signed part if it has none.
    ///
    /// The signature is not part of the digest because it can be encoded in several ways.
    private static func id(of token: String, _ payload: TokenPayload) -> String {
        if let id = payload.tokenID, (1...maximumIDLength).contains(id.utf8.count) { return id }
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
        // A token whose modes do not allow publishing, but that names tracks to publish, is contradictory.
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

/// The header of a token, which says how it is signed; read before the signature is verified.
struct TokenHeader: Decodable {
    let alg: String
    let kid: String?
    let crit: [String]?

    /// Parses the first of a token's three parts; nil if the text is not a token.
    init?(token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var text = String(parts[0]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard
            let data = Data(base64Encoded: text),
            let header = try? JSONDecoder().decode(TokenHeader.self, from: data)
        else { return nil }
        self = header
    }
}

/// The signed payload of a token: the registered claims (RFC 7519 section 4.1), and the gateway's under `footlight`.
struct TokenPayload: JWTPayload {
    struct Grants: Codable {
        struct Publishing: Codable {
            var sources: [String]?
            var maximumBitrate: Int?

            private enum CodingKeys: String, CodingKey {
                case sources
                case maximumBitrate = "max_kbps"
            }
        }

        var role: String?
        var room: String?
        var mode: String?
        var allowedModes: [String]?
        var administers: [String]?
        var epoch: UInt64?
        var publishing: Publishing?

        private enum CodingKeys: String, CodingKey {
            case role
            case room
            case mode
            case allowedModes = "allowed_modes"
            case administers = "can_admin"
            case epoch
            case publishing = "pub"
        }
    }

    var subject: String
    var audience: AudienceClaim
    var expiresAt: Double
    var notBefore: Double
    var issuedAt: Double?
    var tokenID: String?
    var footlight: Grants

    private enum CodingKeys: String, CodingKey {
        case subject = "sub"
        case audience = "aud"
        case expiresAt = "exp"
        case notBefore = "nbf"
        case issuedAt = "iat"
        case tokenID = "jti"
        case footlight
    }

    // `AccessTokens` checks the times against its own clock.
    func verify(using algorithm: some JWTAlgorithm) {}
}

/// Loads the keys of earlier rotations from a folder; tokens signed with them stay valid until the key's file is
/// removed.
public enum RetiredKeys {
    private static let suffix = ".key"
    private static let shortest = 32

    /// Reads every `<kid>.key` of a folder: base64 of at least 32 bytes.
    ///
    /// A missing folder yields no keys.
    ///
    /// - Throws: `DamagedKey` for a file without a valid key, and errors of the file system.
    public static func load(from folder: String) throws -> [String: [UInt8]] {
        guard FileManager.default.fileExists(atPath: folder) else { return [:] }
        var keys: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) where name.hasSuffix(suffix) {
            let path = folder + "/" + name
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
            guard
                let key = Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)),
                key.count >= shortest
            else { throw DamagedKey(path: path) }
            keys[String(name.dropLast(suffix.count))] = [UInt8](key)
        }
        return keys
    }

    /// A key file that does not contain a key.
    public struct DamagedKey: Error, CustomStringConvertible {
        /// The path of the file.
        public let path: String

        /// A description of the problem and its solution; never contains the file's content.
        public var description: String {
            "\(path) holds no key of 32 bytes or more in base64; restore it, or remove it"
        }
    }
}
