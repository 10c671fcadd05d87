import Crypto
import Foundation

/// Identifies a viewer beyond one session: a user by token, or a device by its persistent id.
///
/// A keyed hash would hide no more, because the input is either public in the room or random. The room is part of the
/// hash, so that viewers cannot be tracked across rooms.
struct ViewerKey: Sendable, Hashable {
    /// The quality of the identification.
    enum Kind: UInt8, Sendable {
        /// The subject of a token.
        case user = 1
        /// The random id of a device.
        case device = 2
        /// An estimate from address and user agent.
        case estimate = 3
    }

    let value: UInt64
    let kind: Kind

    init(user: String, room: String) {
        self.init(.user, user, room)
    }

    init(device: String, room: String) {
        self.init(.device, device, room)
    }

    /// Restores the key of a stored session; nil when only the session is known.
    init?(stored value: UInt64?, isUser: Bool) {
        guard let value else { return nil }
        self.value = value
        kind = isUser ? .user : .device
    }

    private init(_ kind: Kind, _ text: String, _ room: String) {
        self.kind = kind
        value = Self.hash("\(kind.rawValue)\u{1F}\(room)\u{1F}\(text)")
    }

    /// Estimates a viewer from its address and user agent, under a salt that is discarded daily.
    init(address: String, userAgent: String, room: String, salt: SymmetricKey) {
        var code = HMAC<SHA256>(key: salt)
        var text = "\(address)\u{1F}\(userAgent)\u{1F}\(room)"
        text.withUTF8 { code.update(data: UnsafeRawBufferPointer($0)) }
        kind = .estimate
        value = code.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// The shard of all sessions of the viewer; the same in every process.
    var shard: Int { Int(value >> 60) }

    /// Returns the first eight bytes of the SHA-256 of a text.
    static func hash(_ text: String) -> UInt64 {
        var hash = SHA256()
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}

/// The salt of viewer estimates, replaced every UTC day.
///
/// The salt is in memory, and in one sealed copy for a restart on the same day.
struct DailySalt: Sendable {
    private var day: Int64?
    private var key = SymmetricKey(size: .bits256)

    /// Returns the salt of the day of `date` (milliseconds since 1970); discards the one of an earlier day.
    mutating func key(at date: Int64) -> SymmetricKey {
        let today = Self.day(of: date)
        if day != today {
            key = SymmetricKey(size: .bits256)
            day = today
        }
        return key
    }

    /// Returns today's salt, encrypted and authenticated with the secret.
    mutating func sealed(at date: Int64, secret: [UInt8]) throws -> [UInt8] {
        let salt = key(at: date).withUnsafeBytes { Data($0) }
        let box = try AES.GCM.seal(salt, using: Self.sealingKey(secret), authenticating: Self.name(Self.day(of: date)))
        return Array(box.nonce) + Array(box.ciphertext) + Array(box.tag)
    }

    /// Restores the salt from a copy that was sealed on the day of `date`.
    ///
    /// - Returns: False for any other copy, which is then useless.
    mutating func open(_ sealed: [UInt8], at date: Int64, secret: [UInt8]) -> Bool {
        let today = Self.day(of: date)
        guard let box = try? AES.GCM.SealedBox(combined: Data(sealed)),
            let salt = try? AES.GCM.open(box, using: Self.sealingKey(secret), authenticating: Self.name(today)),
            salt.count == 32
        else { return false }
        key = SymmetricKey(data: salt)
        day = today
        return true
    }

    static func day(of date: Int64) -> Int64 { date / 86_400_000 }

    private static func name(_ day: Int64) -> Data { Data("estimates \(day)".utf8) }

    private static func sealingKey(_ secret: [UInt8]) -> SymmetricKey {
        HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret),
            info: Data("footlight estimates".utf8),
            outputByteCount: 32
        )
    }
}
