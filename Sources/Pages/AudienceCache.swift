import Media

/// Caches the public audience figures of rooms for a moment.
struct AudienceCache: Sendable {
    /// The lifetime of an entry, in seconds.
    static let lifetime = 1.0
    /// The maximum number of rooms.
    static let capacity = 1024

    private var entries: [String: (audience: PageAudience, at: MonotonicTime)] = [:]

    /// Returns the cached audience of a room; nil if there is none or it has expired.
    func audience(of room: String, now: MonotonicTime) -> PageAudience? {
        entries[room].flatMap { now.seconds(since: $0.at) < Self.lifetime ? $0.audience : nil }
    }

    /// Inserts the audience of a room.
    mutating func insert(_ audience: PageAudience, of room: String, now: MonotonicTime) {
        if entries[room] == nil, entries.count >= Self.capacity {
            entries = entries.filter { now.seconds(since: $0.value.at) < Self.lifetime }
        }
        // If the cache is full of current entries, further rooms are not cached.
        guard entries[room] != nil || entries.count < Self.capacity else { return }
        entries[room] = (audience, now)
    }
}

/// The public audience figures of a room.
public struct PageAudience: Sendable, Equatable {
    /// Whether the program can be played.
    public var isOnAir: Bool
    /// The number of viewers over all protocols.
    public var viewers: Int

    /// Creates the figures from their parts.
    public init(isOnAir: Bool, viewers: Int) {
        self.isOnAir = isOnAir
        self.viewers = viewers
    }
}
