/// What admitted a viewer to a private room.
///
/// A grant is part of the session id, whose signature covers it: it is checked in full once, and later requests only say
/// the id. It names what can be revoked.
public enum PlaybackGrant: Sendable, Hashable {
    /// A ticket, by its number in the room; 24 bits.
    case ticket(UInt32)
    /// The room's passphrase, by the start of its digest, which changes with the passphrase.
    case passphrase(UInt16)
    /// An access token for the room, by the bearer, see `number(of:)`; 24 bits.
    case token(UInt32)

    /// The bits of a nonce, of which a grant takes the high ones.
    private static let nonceBits = 48

    /// The kind as two bits; 0 is no grant.
    public var kind: UInt8 {
        switch self {
        case .ticket: 1
        case .passphrase: 2
        case .token: 3
        }
    }

    /// The value in the high bits of the nonce.
    public var value: UInt64 {
        switch self {
        case .ticket(let number), .token(let number): UInt64(number & 0xFF_FFFF)
        case .passphrase(let number): UInt64(number)
        }
    }

    /// The low bits of the nonce, which stay random.
    public var freeBits: Int {
        switch self {
        case .ticket, .token: Self.nonceBits - 24
        case .passphrase: Self.nonceBits - 16
        }
    }

    /// Reads a grant from a session id; nil for kind 0.
    public init?(kind: UInt8, nonce: UInt64) {
        switch kind {
        case 1: self = .ticket(UInt32(truncatingIfNeeded: nonce >> 24 & 0xFF_FFFF))
        case 2: self = .passphrase(UInt16(truncatingIfNeeded: nonce >> 32))
        case 3: self = .token(UInt32(truncatingIfNeeded: nonce >> 24 & 0xFF_FFFF))
        default: return nil
        }
    }

    /// Returns the number of a token's bearer: 24 bits of a hash (FNV-1a), the same in every process.
    public static func number(of identity: String) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for byte in identity.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
        return (hash >> 24 ^ hash) & 0xFF_FFFF
    }
}

/// What an authentic session id says about itself.
public struct SessionStatement: Sendable, Equatable {
    /// What admitted the viewer; nil for an id of a public room.
    public var grant: PlaybackGrant?
    /// The time of issue in seconds since 1970.
    public var issuedAt: Double

    /// Creates a statement.
    public init(grant: PlaybackGrant? = nil, issuedAt: Double) {
        self.grant = grant
        self.issuedAt = issuedAt
    }
}
