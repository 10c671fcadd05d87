import Foundation
import Logging
import SQLiteStore
import Synchronization

/// The way of an event into the outbox.
extension WebhookDispatcher {
    /// The longest pause between two tries to write; seconds.
    private static let longestPause = 5.0

    /// Tells an event to all endpoints that want to know of it; returns at once.
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

    /// Whether anybody would be told of such an event.
    public func wants(_ event: WebhookEvent) -> Bool {
        state.withLock { !$0.recipients(of: event).isEmpty }
    }

    /// The value that was stored with an event of this mark; nil when none was.
    ///
    /// - Throws: `unavailable` when the database cannot be read.
    public func mark(_ name: String) async throws(WebhookFault) -> Int64? {
        do {
            return try await outbox.perform { (database) throws(StoreFault) in try database.mark(name) }
        } catch {
            throw .unavailable
        }
    }

    /// Writes what is incoming; called in turn on the outbox's thread.
    private func write() {
        let (events, recipients) = state.withLock { state in
            (state.incoming, state.incoming.map { state.recipients(of: $0) })
        }
        let messages = zip(events, recipients).compactMap { message(of: $0, to: $1) }
        do {
            let now = now()
            try outbox.now { (database) throws(StoreFault) in try database.append(messages, now: now) }
        } catch {
            return again(after: error)
        }
        let dropped = dropBeyondLimit(of: messages)
        let (bells, isMore) = state.withLock { state in
            state.writeFailures = 0
            state.incoming.removeFirst(events.count)
            state.isWriting = !state.incoming.isEmpty
            var bells: [Bell] = []
            for id in Set(messages.flatMap(\.recipients)) {
                guard var told = state.told[id] else { continue }
                told.pending += messages.count { $0.recipients.contains(id) } - (dropped[id] ?? 0)
                told.course.dropped(dropped[id] ?? 0)
                told.course.queued(at: now())
                state.told[id] = told
                bells.append(told.bell)
            }
            state.dropped += dropped.values.reduce(0, +)
            return (bells, state.isWriting)
        }
        for bell in bells { bell.ring() }
        if isMore { outbox.later { [self] in write() } }
    }

    /// Gives up the oldest of what waits where that is more than may.
    ///
    /// - Returns: How many, by endpoint.
    private func dropBeyondLimit(of messages: [OutboxMessage]) -> [String: Int] {
        let crowded = state.withLock { state in
            Set(messages.flatMap(\.recipients)).filter { id in
                let waiting = (state.told[id]?.pending ?? 0) + messages.count { $0.recipients.contains(id) }
                return waiting > configuration.maximumPending
            }
        }
        var dropped: [String: Int] = [:]
        for id in crowded {
            do {
                dropped[id] = try outbox.now { (database) throws(StoreFault) in
                    try database.drop(beyond: configuration.maximumPending, of: id, at: now())
                }
            } catch {
                // The messages are written; what is too much of them goes with the next ones.
                logger.warning("the outbox cannot be shortened", metadata: ["reason": "\(error.reason)"])
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
                logger.error("an event cannot be written as JSON", metadata: ["type": "\(event.type)"])
                recipients = []
            }
            if data.count > configuration.maximumBytes {
                logger.warning("an event is too large for a webhook", metadata: ["type": "\(event.type)"])
                state.withLock { $0.dropped += 1 }
                recipients = []
            }
        }
        guard event.mark != nil || !recipients.isEmpty else { return nil }
        return OutboxMessage(
            id: RandomName.make("msg_"),
            type: event.type,
            room: event.room?.name ?? "",
            at: event.at,
            data: data,
            recipients: recipients,
            mark: event.mark
        )
    }

    private func again(after fault: StoreFault) {
        let failures = state.withLock { state in
            state.writeFailures += 1
            return state.writeFailures
        }
        // The first says that something is wrong, and every twentieth that it still is.
        if failures % 20 == 1 {
            logger.error(
                "webhooks cannot be stored; trying again",
                metadata: ["reason": "\(fault.reason)", "failures": "\(failures)"]
            )
        }
        let pause = min(0.1 * Double(1 << min(failures, 10)), Self.longestPause)
        outbox.later(after: pause * Double.random(in: 0.75...1.25)) { [self] in write() }
    }
}

extension WebhookDispatcher.State {
    /// The ids of the endpoints that are told of an event.
    func recipients(of event: WebhookEvent) -> [String] {
        told.filter { $0.value.course.isEnabled && $0.value.endpoint.filter.passes(event) }.map(\.key).sorted()
    }
}
