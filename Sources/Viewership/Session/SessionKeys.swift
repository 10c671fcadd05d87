/// The keys in force: one signs, and during a rotation the one before it still verifies.
public struct SessionKeys: Sendable {
    /// Signs new ids.
    public let current: SessionKey
    /// Still verifies ids that were signed before the rotation; its version differs from the current one.
    public let previous: SessionKey?

    /// Keys of which `current` signs.
    public init(current: SessionKey, previous: SessionKey? = nil) {
        self.current = current
        self.previous = previous
    }

    /// Signs an id for a viewer of `room`.
    ///
    /// - Parameters:
    ///   - shard: below `SessionID.shardCount`.
    ///   - exclusion: why whoever gets it never counts; nil for a viewer.
    ///   - issuedAt: seconds since 1970.
    ///   - nonce: random; 48 bits are used.
    func makeID(
        room: String,
        shard: UInt8,
        exclusion: Exclusion? = nil,
        issuedAt: UInt32,
        nonce: UInt64
    ) -> SessionID {
        let bare = SessionID(
            version: current.version,
            shard: shard,
            exclusion: exclusion,
            issuedAt: issuedAt,
            roomHash: SessionID.stableHash(room),
            nonce: nonce
        )
        let code = current.code(head: bare.head, tail: bare.tail, room: room)
        return SessionID(head: bare.head, tail: bare.tail, code: code)
    }

    /// Whether one of the keys signed `id` for `room`.
    ///
    /// The codes are compared as one machine word, which takes the same time wherever they differ.
    func verify(_ id: SessionID, room: String) -> Bool {
        let key: SessionKey
        switch id.version {
        case current.version: key = current
        case previous?.version: key = previous ?? current
        default: return false
        }
        return key.code(head: id.head, tail: id.tail, room: room) ^ id.code == 0
    }

    /// The ids of a player that names its playback itself: always the same, one for each key in force, newest first.
    ///
    /// - Parameters:
    ///   - name: what the player calls its playback; as long as the player likes.
    ///   - exclusion: why it never counts; nil for a viewer.
    func ids(room: String, name: String, shard: Int, exclusion: Exclusion? = nil) -> [SessionID] {
        ids(room: room, hash: Self.hash(room: room, name: name), shard: shard, exclusion: exclusion)
    }

    /// As the other one, of a name whose hash is known.
    func ids(room: String, hash: UInt64, shard: Int, exclusion: Exclusion?) -> [SessionID] {
        [current, previous].compactMap { $0 }.map { key in
            let bare = SessionID(
                version: key.version,
                shard: UInt8(shard),
                exclusion: exclusion,
                // Not issued by anybody, so not by an earlier run either.
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

    /// What stands for the name that a player gives its playback.
    static func hash(room: String, name: String) -> UInt64 {
        ViewerKey.hash("playback\u{1F}\(room)\u{1F}\(name)")
    }

    /// The shard of a player that names its playback itself and is not known otherwise.
    static func shard(room: String, name: String) -> Int {
        Int(SessionID.stableHash(room, name)) % SessionID.shardCount
    }
}
