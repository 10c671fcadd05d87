import Crypto
import Stage

/// The keys in force: the current one signs, the previous one still verifies during a rotation.
public struct SessionKeys: Sendable {
    /// The key that signs new ids.
    public let current: SessionKey
    /// The key before the rotation, which still verifies; its version differs from the current one.
    public let previous: SessionKey?

    /// Creates the keys in force.
    public init(current: SessionKey, previous: SessionKey? = nil) {
        self.current = current
        self.previous = previous
    }

    /// Makes an id for a viewer of `room`.
    ///
    /// - Parameters:
    ///   - shard: The owning shard, below `SessionID.shardCount`.
    ///   - exclusion: The reason why the id never counts; nil for a viewer.
    ///   - grant: What admitted the viewer to a private room; nil for a public one.
    ///   - issuedAt: Seconds since 1970.
    ///   - nonce: A random number; 48 bits are used.
    func makeID(
        room: String,
        shard: UInt8,
        exclusion: ExclusionReason? = nil,
        grant: PlaybackGrant? = nil,
        issuedAt: UInt32,
        nonce: UInt64
    ) -> SessionID {
        let bare = SessionID(
            version: current.version,
            shard: shard,
            exclusion: exclusion,
            grant: grant,
            issuedAt: issuedAt,
            roomHash: SessionID.stableHash(room),
            nonce: nonce
        )
        let code = current.code(head: bare.head, tail: bare.tail, room: room)
        return SessionID(head: bare.head, tail: bare.tail, code: code)
    }

    /// Whether one of the keys signed `id` for `room`.
    ///
    /// Compares the codes in constant time, as one machine word.
    func verify(_ id: SessionID, room: String) -> Bool {
        let key: SessionKey
        switch id.version {
        case current.version: key = current
        case previous?.version: key = previous ?? current
        default: return false
        }
        return key.code(head: id.head, tail: id.tail, room: room) ^ id.code == 0
    }

    /// Derives the ids of a player with its own session name: deterministic, one for each key in force, newest first.
    ///
    /// - Parameters:
    ///   - name: The player's session name, of any length.
    ///   - exclusion: The reason why the ids never count; nil for a viewer.
    func ids(room: String, name: String, shard: Int, exclusion: ExclusionReason? = nil) -> [SessionID] {
        ids(room: room, hash: Self.hash(room: room, name: name), shard: shard, exclusion: exclusion)
    }

    /// Derives the ids for the hash of a name.
    func ids(room: String, hash: UInt64, shard: Int, exclusion: ExclusionReason?) -> [SessionID] {
        [current, previous].compactMap { $0 }.map { key in
            let bare = SessionID(
                version: key.version,
                shard: UInt8(shard),
                exclusion: exclusion,
                // No process issued the id, so it is not of an earlier run.
                issuedAt: .max,
                roomHash: SessionID.stableHash(room),
                nonce: hash
            )
            return SessionID(
                head: bare.head,
                tail: bare.tail,
                code: key.code(head: bare.head, tail: bare.tail, room: room)
            )
        }
    }

    /// Hashes a player's session name.
    static func hash(room: String, name: String) -> UInt64 {
        ViewerKey.hash("playback\u{1F}\(room)\u{1F}\(name)")
    }

    /// Returns the shard of a player that is known by its session name only.
    static func shard(room: String, name: String) -> Int {
        Int(SessionID.stableHash(room, name)) % SessionID.shardCount
    }
}

/// A secret that signs session ids, and its version.
public struct SessionKey: Sendable {
    /// The first byte of ids signed with this key.
    public let version: UInt8
    private let key: SymmetricKey

    /// - Parameter secret: At least 16 random bytes; 32 are usual.
    public init(version: UInt8, secret: [UInt8]) {
        self.version = version
        key = SymmetricKey(data: secret)
    }

    /// Creates a key with 32 random bytes.
    public static func random(version: UInt8) -> SessionKey {
        SessionKey(version: version, secret: SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
    }

    /// Returns the first eight bytes of HMAC-SHA256 over the 16 unsigned bytes and the room's name.
    func code(head: UInt64, tail: UInt64, room: String) -> UInt64 {
        var code = HMAC<SHA256>(key: key)
        withUnsafeBytes(of: (head.bigEndian, tail.bigEndian)) { code.update(data: $0) }
        var room = room
        room.withUTF8 { code.update(data: UnsafeRawBufferPointer($0)) }
        return code.finalize().withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
