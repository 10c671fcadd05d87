import DequeModule

/// The latest events of a room, for readers that come back.
struct EventRing: Sendable {
    private var events: Deque<StageEvent> = []
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 0)
    }

    mutating func append(_ event: StageEvent) {
        guard capacity > 0 else { return }
        if events.count == capacity {
            events.removeFirst()
        }
        events.append(event)
    }

    /// The events behind `revision`; nil when some of them are forgotten already or `revision` was never reached.
    func events(after revision: UInt64) -> [StageEvent]? {
        guard let first = events.first, let last = events.last else { return nil }
        guard revision <= last.revision, revision + 1 >= first.revision else { return nil }
        // Revisions rise by one, so the distance is the index.
        return Array(events.suffix(Int(last.revision - revision)))
    }
}
