import DequeModule

/// The way of events out of the lock.
extension DirectoryState {
    /// An event with everybody who gets it.
    typealias Delivery = (StageEvent, [@Sendable (StageEvent) -> Void], [UInt64: EventReader])

    mutating func beginDelivery() -> Bool {
        guard !isDelivering, !outbox.isEmpty else { return false }
        isDelivering = true
        return true
    }

    /// The next event and who gets it; the delivery is over when there is none.
    mutating func nextDelivery() -> Delivery? {
        guard let event = outbox.popFirst() else {
            isDelivering = false
            return nil
        }
        // Heartbeats are the readers' alone.
        let observers = event.payload == .heartbeat ? [] : observers.map(\.body)
        return (event, observers, readers[event.roomSID] ?? [:])
    }

    mutating func queueHeartbeats(at now: Double) {
        for sid in readers.keys.sorted() {
            guard let room = rooms[sid] else { continue }
            outbox.append(room.event(.heartbeat, at: now))
        }
    }
}
