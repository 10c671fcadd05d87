/// The name of one viewer session, made by us and proof of it.
///
/// 24 bytes, big-endian: key version (1), shard (1), second of issue since 1970 (4), hash of the room's name (4), nonce
/// (6), message authentication code (8). On the wire: 32 characters of base64url without padding. Because the id
/// carries its own proof, a gateway that never saw it (it was restarted, or another one issued it) can take it over.
///
/// The two upper bits of the shard byte say that whoever has the id never counts: all that is seen of it later may be
/// its playlists, in a log that tells nothing else of it.
public struct SessionID: Sendable, Hashable {
    /// Length of the text form.
    public static let textLength = 32
    /// How many shards ids are spread over; the lower half of the shard byte is below it.
    static let shardCount = 16
    /// Set in the shard byte of what has a machine's token, and of what calls itself no viewer.
    private static let roleBit: UInt8 = 0x80
    private static let agentBit: UInt8 = 0x40

    /// Version, shard, second of issue and the upper half of the room hash.
    let head: UInt64
    /// The lower half of the room hash, and the nonce.
    let tail: UInt64
    /// First eight bytes of the HMAC over `head`, `tail` and the room's name.
    let code: UInt64

    init(head: UInt64, tail: UInt64, code: UInt64) {
        self.head = head
        self.tail = tail
        self.code = code
    }

    /// The unsigned fields in their places; `code` is added by the key.
    ///
    /// - Parameter exclusion: Why whoever gets the id never counts; of the reasons the two that an id can say.
    init(
        version: UInt8,
        shard: UInt8,
        exclusion: Exclusion? = nil,
        issuedAt: UInt32,
        roomHash: UInt32,
        nonce: UInt64,
        code: UInt64 = 0
    ) {
        let mark = exclusion == .role ? Self.roleBit : exclusion == .agent ? Self.agentBit : 0
        head =
            UInt64(version) << 56 | UInt64(shard | mark) << 48 | UInt64(issuedAt) << 16 | UInt64(roomHash >> 16)
        tail = UInt64(roomHash & 0xFFFF) << 48 | nonce & 0xFFFF_FFFF_FFFF
        self.code = code
    }

    /// Reads the text form; nil when it is not 32 characters of base64url or names a shard that does not exist.
    ///
    /// Says nothing about the authentication code: see `SessionKeys.verify`.
    public init?(_ text: String) {
        guard text.utf8.count == Self.textLength else { return nil }
        var text = text
        guard let words = text.withUTF8({ Self.words(of: $0) }) else { return nil }
        (head, tail, code) = words
        guard shardByte & ~(Self.roleBit | Self.agentBit) < Self.shardCount else { return nil }
    }

    /// 32 groups of six bits, the first of them the highest; nil when one of the characters is none of base64url.
    private static func words(of text: UnsafeBufferPointer<UInt8>) -> (UInt64, UInt64, UInt64)? {
        sextets.withUnsafeBufferPointer { sextets in
            // Each eight characters are 48 bits. Nothing here depends on what they are, so nothing is guessed wrong.
            var quarters: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            var seen: UInt8 = 0
            for place in 0..<8 {
                let group = (
                    sextets[Int(text[place])], sextets[Int(text[place + 8])], sextets[Int(text[place + 16])],
                    sextets[Int(text[place + 24])]
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

    /// Which key signed it.
    var version: UInt8 { UInt8(truncatingIfNeeded: head >> 56) }
    private var shardByte: UInt8 { UInt8(truncatingIfNeeded: head >> 48) }
    /// Which shard owns it, below `shardCount`.
    var shard: Int { Int(shardByte) & (Self.shardCount - 1) }
    /// Why whoever has it never counts; nil for a viewer's.
    var exclusion: Exclusion? {
        if shardByte & Self.roleBit != 0 { return .role }
        return shardByte & Self.agentBit != 0 ? .agent : nil
    }
    /// Second of issue since 1970, by the clock of whoever issued it.
    var issuedAt: UInt32 { UInt32(truncatingIfNeeded: head >> 16) }
    /// Random, 48 bits.
    var nonce: UInt64 { tail & 0xFFFF_FFFF_FFFF }
    var roomHash: UInt32 { UInt32(truncatingIfNeeded: head & 0xFFFF) << 16 | UInt32(truncatingIfNeeded: tail >> 48) }

    /// The nonce is random enough to be the hash of a table.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(tail)
    }

    /// A hash of names that stays the same between processes (FNV-1a, 32 bits).
    static func stableHash(_ parts: String...) -> UInt32 {
        var hash: UInt32 = 2_166_136_261
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
            // A separator that occurs in no UTF-8 text, so that ("ab", "c") and ("a", "bc") differ.
            hash = (hash ^ 0xFF) &* 16_777_619
        }
        return hash
    }

    /// What each byte stands for; of those that stand for nothing, 255.
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
