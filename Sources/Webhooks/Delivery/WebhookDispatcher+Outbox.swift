import Foundation
import Logging
import Media
import SQLiteStore
import Synchronization

/// Stores events in the outbox.
extension WebhookDispatcher {
    /// The maximum delay between two write attempts, in seconds.
    private static let writeBackoff = Backoff(initial: 0.2, maximum: 5, jitter: 0.25)

    /// Posts an event to all subscribed endpoints; returns at once.
    public func post(_ event: WebhookEvent) {
        let begins = state.withLock { state in
            guard event.mark != nil || state.recipients(of: event).isEmpty == false else { return false }
            guard state.incoming.count < configuration.maximumPending else {
                state.dropped += 1
                return false
            }
            state.incoming.append(event)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { outbox.later { [self] in write() } }
    }

    /// Whether any endpoint would receive such an event.
    public func hasSubscribers(_ event: WebhookEvent) -> Bool {
        state.withLock { !$0.recipients(of: event).isEmpty }
    }

    /// Returns the stored value of a mark; nil if there is none.
    ///
    /// - Throws: `unavailable` if the database cannot be read.
    public func mark(_ name: String) async throws(WebhookFault) -> Int64? {
        do {
            return try await outbox.perform { (database) throws(StoreFault) in try database.mark(name) }
        } catch {
            throw .unavailable
        }
    }

    /// Writes the incoming events; called on the outbox's queue.
    private func write() {
        let (events, recipients) = state.withLock { state in
            (state.incoming, state.incoming.map { state.recipients(of: $0) })
        }
        let messages = zip(events, recipients).compactMap { message(of: $0, to: $1) }
        do {
            let now = now()
            try outbox.now { (database) throws(StoreFault) in try database.append(messages, now: now) }
        } catch {
            return retryWrite(after: error)
        }
        let dropped = dropBeyondLimit(of: messages)
        let (signals, isMore) = state.withLock { state in
            state.writeFailures = 0
            state.incoming.removeFirst(events.count)
            state.isWriting = !state.incoming.isEmpty
            var signals: [AsyncSignal] = []
            for id in Set(messages.flatMap(\.recipients)) {
                guard var endpoints = state.endpoints[id] else { continue }
                endpoints.pending += messages.count { $0.recipients.contains(id) } - (dropped[id] ?? 0)
                endpoints.scheduler.dropped(dropped[id] ?? 0)
                endpoints.scheduler.queued(at: now())
                state.endpoints[id] = endpoints
                signals.append(endpoints.signal)
            }
            state.dropped += dropped.values.reduce(0, +)
            return (signals, state.isWriting)
        }
        for signal in signals { signal.fire() }
        if isMore { outbox.later { [self] in write() } }
    }

    /// Drops the oldest pending deliveries beyond the limit.
    ///
    /// - Returns: The number of dropped deliveries by endpoint.
    private func dropBeyondLimit(of messages: [OutboxMessage]) -> [String: Int] {
        let overLimit = state.withLock { state in
            Set(messages.flatMap(\.recipients)).filter { id in
                let waiting = (state.endpoints[id]?.pending ?? 0) + messages.count { $0.recipients.contains(id) }
                return waiting > configuration.maximumPending
            }
        }
        var dropped: [String: Int] = [:]
        for id in overLimit {
            do {
                dropped[id] = try outbox.now { (database) throws(StoreFault) in
                    try database.drop(beyond: configuration.maximumPending, of: id, at: now())
                }
            } catch {
                // The messages are stored; the next write drops the excess.
                logger.warning("cannot drop excess webhook deliveries", metadata: ["reason": "\(error.reason)"])
            }
        }
        return dropped
    }

    private func message(of event: WebhookEvent, to recipients: [String]) -> OutboxMessage? {
        var data = Data()
        var recipients = recipients
        if !recipients.isEmpty {
            do {
                data = try event.data()
            } catch {
                logger.error("cannot encode an event as JSON", metadata: ["type": "\(event.type)"])
                recipients = []
            }
            if data.count > configuration.maximumBytes {
                logger.warning("event exceeds the maximum webhook size", metadata: ["type": "\(event.type)"])
                state.withLock { $0.dropped += 1 }
                recipients = []
            }
        }
        guard event.mark != nil || !recipients.isEmpty else { return nil }
        return OutboxMessage(
            id: RandomID.make("msg_"),
            type: event.type,
            room: event.room?.name ?? "",
            at: event.at,
            data: data,
            recipients: recipients,
            mark: event.mark
        )
    }

    private func retryWrite(after fault: StoreFault) {
        let failures = state.withLock { state in
            state.writeFailures += 1
            return state.writeFailures
        }
        // Logs the first failure and every twentieth after it.
        if failures % 20 == 1 {
            logger.error(
                "cannot store webhook messages; retrying",
                metadata: ["reason": "\(fault.reason)", "failures": "\(failures)"]
            )
        }
        outbox.later(after: Self.writeBackoff.delay(retry: failures - 1)) { [self] in write() }
    }
}

extension WebhookDispatcher.State {
    /// Returns the ids of the endpoints that receive an event.
    func recipients(of event: WebhookEvent) -> [String] {
        endpoints.filter { $0.value.scheduler.isEnabled && $0.value.endpoint.filter.passes(event) }.map(\.key).sorted()
    }
}
