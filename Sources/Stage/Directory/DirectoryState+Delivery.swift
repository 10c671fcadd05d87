import DequeModule

/// The way of events out of the lock.
extension DirectoryState {
    /// An event with everybody who gets it.
    struct Delivery {
        let event: StageEvent
        let observers: [@Sendable (StageEvent) -> Void]
        let readers: [UInt64: EventReader]
        let users: [UInt64: UserReader]
    }

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
        let isHeartbeat = event.payload == .heartbeat
        return Delivery(
            event: event,
            observers: isHeartbeat ? [] : observers.map(\.body),
            readers: readers[event.roomSID] ?? [:],
            users: isHeartbeat && event.roomSID.isEmpty ? users : usersConcerned(by: event)
        )
    }

    mutating func queueHeartbeats(at now: Double) {
        for sid in readers.keys.sorted() {
            guard let room = rooms[sid] else { continue }
            outbox.append(room.event(.heartbeat, at: now))
        }
        if !users.isEmpty {
            outbox.append(StageEvent(roomSID: "", roomName: "", revision: 0, payload: .heartbeat, at: now))
        }
    }

    private func usersConcerned(by event: StageEvent) -> [UInt64: UserReader] {
        guard !users.isEmpty else { return [:] }
        let identities = event.concernedIdentities
        return identities.isEmpty ? [:] : users.filter { identities.contains($0.value.identity) }
    }
}
