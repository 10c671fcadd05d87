import Stage

/// The authenticated id of a viewer session.
///
/// 24 bytes, big-endian: key version (1), shard (1), second of issue since 1970 (4), hash of the room's name (4), nonce
/// (6), message authentication code (8). The text form has 32 characters of base64url without padding. A gateway
/// accepts a valid id that it never saw, after a restart or from another gateway.
///
/// The two high bits of the shard byte mark an id that never counts, because later only its playlists may be seen, in a
/// log without any other information. The two bits below them say what admitted the viewer to a private room; the high
/// bits of the nonce then name the grant, see `PlaybackGrant`.
public struct SessionID: Sendable, Hashable {
    /// The length of the text form.
    public static let textLength = 32
    /// The number of shards; the lower half of the shard byte is below it.
    static let shardCount = 16
    /// Flags in the shard byte: a machine's token, and an excluded user agent.
    private static let roleBit: UInt8 = 0x80
    private static let agentBit: UInt8 = 0x40
    /// The position of the kind of grant in the shard byte, two bits.
    private static let grantShift: UInt8 = 4

    /// Version, shard, second of issue and the high half of the room hash.
    let head: UInt64
    /// The low half of the room hash, and the nonce.
    let tail: UInt64
    /// The first eight bytes of the HMAC over `head`, `tail` and the room's name.
    let code: UInt64

    init(head: UInt64, tail: UInt64, code: UInt64) {
        self.head = head
        self.tail = tail
        self.code = code
    }

    /// Assembles the unsigned fields; the key adds `code`.
    ///
    /// - Parameters:
    ///   - exclusion: The reason why the id never counts; `role` and `agent` are encoded.
    ///   - grant: What admitted the viewer to a private room; nil for a public one.
    init(
        version: UInt8,
        shard: UInt8,
        exclusion: ExclusionReason? = nil,
        grant: PlaybackGrant? = nil,
        issuedAt: UInt32,
        roomHash: UInt32,
        nonce: UInt64,
        code: UInt64 = 0
    ) {
        var mark = exclusion == .role ? Self.roleBit : exclusion == .agent ? Self.agentBit : 0
        var nonce = nonce
        if let grant {
            mark |= grant.kind << Self.grantShift
            nonce = grant.value << UInt64(grant.freeBits) | nonce & (1 << UInt64(grant.freeBits) - 1)
        }
        head =
            UInt64(version) << 56 | UInt64(shard | mark) << 48 | UInt64(issuedAt) << 16 | UInt64(roomHash >> 16)
        tail = UInt64(roomHash & 0xFFFF) << 48 | nonce & 0xFFFF_FFFF_FFFF
        self.code = code
    }

    /// Parses the text form; nil unless it is 32 characters of base64url.
    ///
    /// Does not check the authentication code: see `SessionKeys.verify`.
    public init?(_ text: String) {
        guard text.utf8.count == Self.textLength else { return nil }
        var text = text
        guard let words = text.withUTF8({ Self.words(of: $0) }) else { return nil }
        (head, tail, code) = words
    }

    /// Decodes 32 groups of six bits, most significant first; nil for characters outside of base64url.
    private static func words(of text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64)? {
        sextets.withUnsafeBufferPointer { sextets in
            // Eight characters are 48 bits. The loop has no data-dependent branch.
            var quarters: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            var seen: UInt8 = 0
            for offset in 0..<8 {
                let group = (
                    sextets[Int(text[offset])], sextets[Int(text[offset + 8])], sextets[Int(text[offset + 16])],
                    sextets[Int(text[offset + 24])]
                )
                seen |= group.0 | group.1 | group.2 | group.3
                quarters.0 = quarters.0 << 6 | UInt64(group.0)
                quarters.1 = quarters.1 << 6 | UInt64(group.1)
                quarters.2 = quarters.2 << 6 | UInt64(group.2)
                quarters.3 = quarters.3 << 6 | UInt64(group.3)
            }
            guard seen < 64 else { return nil }
            return (
                quarters.0 << 16 | quarters.1 >> 32, quarters.1 << 32 | quarters.2 >> 16, quarters.2 << 48 | quarters.3
            )
        }
    }

    /// The text form, 32 characters.
    public var text: String {
        String(unsafeUninitializedCapacity: Self.textLength) { buffer in
            var words = (head, tail, code)
            for position in stride(from: Self.textLength - 1, through: 0, by: -1) {
                buffer[position] = Self.character(UInt8(words.2 & 63))
                words.2 = words.2 >> 6 | words.1 << 58
                words.1 = words.1 >> 6 | words.0 << 58
                words.0 >>= 6
            }
            return Self.textLength
        }
    }

    /// The version of the signing key.
    var version: UInt8 { UInt8(truncatingIfNeeded: head >> 56) }
    private var shardByte: UInt8 { UInt8(truncatingIfNeeded: head >> 48) }
    /// The owning shard, below `shardCount`.
    var shard: Int { Int(shardByte) & (Self.shardCount - 1) }
    /// The reason why the id never counts; nil for a viewer.
    var exclusion: ExclusionReason? {
        if shardByte & Self.roleBit != 0 { return .role }
        return shardByte & Self.agentBit != 0 ? .agent : nil
    }
    /// What admitted the viewer to a private room; nil for an id of a public one.
    var grant: PlaybackGrant? { PlaybackGrant(kind: shardByte >> Self.grantShift & 3, nonce: nonce) }
    /// The second of issue since 1970, by the clock of the issuer.
    var issuedAt: UInt32 { UInt32(truncatingIfNeeded: head >> 16) }
    /// A random number of 48 bits.
    var nonce: UInt64 { tail & 0xFFFF_FFFF_FFFF }
    var roomHash: UInt32 { UInt32(truncatingIfNeeded: head & 0xFFFF) << 16 | UInt32(truncatingIfNeeded: tail >> 48) }

    /// Hashes the nonce, which is random enough.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tail)
    }

    /// Hashes names; the result is the same in every process (FNV-1a, 32 bits).
    static func stableHash(_ parts: String...) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            // A separator outside of UTF-8, so that ("ab", "c") and ("a", "bc") differ.
            hash = (hash ^ 0xFF) &* 16_777_619
        }
        return hash
    }

    /// The value of each byte; 255 for bytes outside of base64url.
    private static let sextets: [UInt8] = {
        var sextets = [UInt8](repeating: 255, count: 256)
        for sextet in UInt8(0)..<64 { sextets[Int(character(sextet))] = sextet }
        return sextets
    }()

    private static func character(_ sextet: UInt8) -> UInt8 {
        switch sextet {
        case 0..<26: sextet + 65
        case 26..<52: sextet + 71
        case 52..<62: sextet - 4
        case 62: UInt8(ascii: "-")
        default: UInt8(ascii: "_")
        }
    }
}

extension SessionID: CustomStringConvertible {
    /// The text form.
    public var description: String { text }
}
