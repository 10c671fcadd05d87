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
        return (event, observers.map(\.body), readers[event.roomSID] ?? [:])
    }
}
