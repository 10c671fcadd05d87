import Crypto

/// A secret that signs session ids, and the version byte that ids name it by.
public struct SessionKey: Sendable {
    /// The byte that ids signed with this key begin with.
    public let version: UInt8
    private let key: SymmetricKey

    /// - Parameter secret: at least 16 bytes of good randomness; 32 are usual.
    public init(version: UInt8, secret: [UInt8]) {
        self.version = version
        key = SymmetricKey(data: secret)
    }

    /// A fresh secret of 32 random bytes.
    public static func random(version: UInt8) -> SessionKey {
        SessionKey(version: version, secret: SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
    }

    /// First eight bytes of HMAC-SHA256 over the unsigned 16 bytes and the room's name.
    func code(head: UInt64, tail: UInt64, room: String) -> UInt64 {
        var code = HMAC<SHA256>(key: key)
        withUnsafeBytes(of: (head.bigEndian, tail.bigEndian)) { code.update(data: $0) }
        var room = room
        room.withUTF8 { code.update(data: UnsafeRawBufferPointer($0)) }
        return code.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
