import Crypto

/// Who watches, beyond one session: a person by a token, or a device by the id that it keeps.
///
/// A keyed hash would not hide more: what is hashed is either public in the room or random. Rooms are part of it, so
/// that nobody is followed from one to another.
struct ViewerKey: Sendable, Hashable {
    /// How well the viewer is known.
    enum Kind: UInt8, Sendable {
        /// The subject of a token.
        case user = 1
        /// A random id of a device.
        case device = 2
        /// Address and name of the player, an estimate.
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

    /// Whose a session is that the history has; nil for a viewer who is known by the session alone.
    init?(stored value: UInt64?, isUser: Bool) {
        guard let value else { return nil }
        self.value = value
        kind = isUser ? .user : .device
    }

    private init(_ kind: Kind, _ text: String, _ room: String) {
        self.kind = kind
        value = Self.hash("\(kind.rawValue)\u{1F}\(room)\u{1F}\(text)")
    }

    /// The estimate of a viewer that tells nothing: its address and player, under a salt that is thrown away every day.
    init(address: String, userAgent: String, room: String, salt: SymmetricKey) {
        var code = HMAC<SHA256>(key: salt)
        var text = "\(address)\u{1F}\(userAgent)\u{1F}\(room)"
        text.withUTF8 { code.update(data: UnsafeRawBufferPointer($0)) }
        kind = .estimate
        value = code.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// The shard that holds all sessions of the viewer, the same in every process.
    var shard: Int { Int(value >> 60) }

    /// First eight bytes of the SHA-256 of a text.
    static func hash(_ text: String) -> UInt64 {
        var hash = SHA256()
        var text = text
        text.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hash.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
