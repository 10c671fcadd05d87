import DequeModule

/// A reader of one room's events: bounded, and disconnected with a final event when it falls behind.
struct EventReader: Sendable {
    let roomSID: String
    /// The participant that owns the stream; nil for an observer.
    let participantSID: String?
    /// The last revision that the reader already knows.
    let knownRevision: UInt64
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Enqueues one event.
    ///
    /// - Returns: Whether the reader stays subscribed.
    func offer(_ event: StageEvent) -> Bool {
        guard event.revision > knownRevision || event.payload == .heartbeat else { return true }
        if let only = event.onlyReaderSID, only != participantSID { return true }
        switch continuation.yield(event) {
        case .enqueued(let remaining) where remaining > 1:
            return endsWith(event) ? finish() : true
        case .enqueued:
            // The last free slot of the buffer is for the final event.
            return finish(.readerTooSlow, after: event)
        case .dropped, .terminated:
            return finish()
        @unknown default:
            return finish()
        }
    }

    /// Whether `event` is the last one; the participant's own stream receives the reason.
    private func endsWith(_ event: StageEvent) -> Bool {
        switch event.payload {
        case .roomEnded:
            if participantSID != nil { yieldDisconnected(.roomCompleted, after: event) }
            return true
        case .participantLeft(let participant, let reason):
            guard participant.sid == participantSID else { return false }
            if let error = reason.error { yieldDisconnected(error, after: event) }
            return true
        default:
            return false
        }
    }

    private func finish(_ error: StageError, after event: StageEvent) -> Bool {
        yieldDisconnected(error, after: event)
        return finish()
    }

    private func finish() -> Bool {
        continuation.finish()
        return false
    }

    private func yieldDisconnected(_ error: StageError, after event: StageEvent) {
        var last = event
        last.payload = .sessionDisconnected(error)
        continuation.yield(last)
    }
}

/// A reader of one identity's events of all rooms.
struct UserReader: Sendable {
    let identity: String
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Enqueues one event; a reader that falls behind is disconnected with a final event.
    ///
    /// - Returns: Whether the reader stays subscribed.
    func offer(_ event: StageEvent) -> Bool {
        switch continuation.yield(event) {
        case .enqueued(let remaining) where remaining > 1:
            return true
        case .enqueued:
            // The last free slot of the buffer is for the final event.
            var last = event
            last.payload = .sessionDisconnected(.readerTooSlow)
            continuation.yield(last)
        case .dropped, .terminated:
            break
        @unknown default:
            break
        }
        continuation.finish()
        return false
    }
}

/// A ring buffer of the latest events of a room, for readers that reconnect.
struct EventReplayBuffer: Sendable {
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

    /// Returns the events after `revision`; nil when some were evicted or `revision` was never reached.
    func events(after revision: UInt64) -> [StageEvent]? {
        guard let first = events.first, let last = events.last else { return nil }
        guard revision <= last.revision, revision + 1 >= first.revision else { return nil }
        // Revisions are consecutive, so the distance is the index.
        return Array(events.suffix(Int(last.revision - revision)))
    }
}

/// A cancellable stream of a room's events.
public struct EventSubscription: Sendable {
    /// The events, for one reader.
    public let events: AsyncStream<StageEvent>
    let continuation: AsyncStream<StageEvent>.Continuation

    /// Ends the stream; a pending read returns nil.
    public func cancel() {
        continuation.finish()
    }
}

/// The registration of an observer; deinitialization or `cancel()` ends it.
public final class StageObservation: Sendable {
    private let end: @Sendable () -> Void

    init(end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the registration; a call on another thread may still be in progress.
    public func cancel() {
        end()
    }
}
