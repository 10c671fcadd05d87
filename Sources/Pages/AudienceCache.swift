import Media

/// What everybody may know of rooms, for a moment after it was found out.
struct AudienceCache: Sendable {
    /// Seconds for which it is told.
    static let lifetime = 1.0
    /// Rooms remembered.
    static let capacity = 1024

    private var entries: [String: (audience: PageAudience, at: MonotonicTime)] = [:]

    /// What is known of a room's audience; nil when it is to be found out.
    func audience(of room: String, now: MonotonicTime) -> PageAudience? {
        entries[room].flatMap { now.seconds(since: $0.at) < Self.lifetime ? $0.audience : nil }
    }

    /// Remembers what was found out.
    mutating func keep(_ audience: PageAudience, of room: String, now: MonotonicTime) {
        if entries[room] == nil, entries.count >= Self.capacity {
            entries = entries.filter { now.seconds(since: $0.value.at) < Self.lifetime }
        }
        // More rooms than that within a moment are found out each time.
        guard entries[room] != nil || entries.count < Self.capacity else { return }
        entries[room] = (audience, now)
    }
}
