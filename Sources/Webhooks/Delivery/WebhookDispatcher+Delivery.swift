import Foundation
import Logging
import SQLiteStore
import Synchronization

/// The way of a message from the outbox to its endpoint.
extension WebhookDispatcher {
    /// Seconds between two looks at what was settled long ago.
    private static let tidying = 600.0
    /// Seconds after which a waiting delivery looks at the clock again.
    private static let longestNap = 60.0
    /// Seconds between two tries to write down what came of a message.
    private static let settlingPause = 2.0

    /// Delivers until the task is cancelled; to be called once.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.tidy() }
            for await id in newcomers {
                group.addTask { await self.deliver(to: id) }
            }
        }
    }

    private func tidy() async {
        while !Task.isCancelled {
            do {
                let limit = now() - configuration.retention
                try await outbox.perform { (database) throws(StoreFault) in try database.forget(settledBefore: limit) }
            } catch {
                logger.warning("old deliveries cannot be deleted", metadata: ["reason": "\(error.reason)"])
            }
            // Cancellation ends the sleep and, with it, the loop.
            try? await Task.sleep(for: .seconds(Self.tidying))
        }
    }

    /// Delivers to one endpoint, until it is taken away or the task is cancelled.
    private func deliver(to id: String) async {
        var kept: EndpointConnection?
        defer { kept?.close() }
        while !Task.isCancelled {
            let now = now()
            let turn = state.withLock { state in
                state.told[id] == nil ? nil : (state.told[id]?.course.next(at: now), state.told[id]?.bell)
            }
            guard let (next, bell) = turn, let next, let bell else { return }
            switch next {
            case .send:
                await send(to: id, over: &kept)
            case .wait(let until):
                kept?.close()
                kept = nil
                await bell.wait(atMost: min(until - now, Self.longestNap))
            case .rest:
                kept?.close()
                kept = nil
                await bell.wait()
            }
        }
    }

    /// Sends the oldest message that waits for an endpoint, and writes down what came of it.
    private func send(to id: String, over kept: inout EndpointConnection?) async {
        guard let (endpoint, news) = state.withLock({ state in state.told[id].map { ($0.endpoint, $0.course.news) } })
        else { return }
        let head: OutboxDatabase.Head?
        do {
            head = try await outbox.perform { (database) throws(StoreFault) in try database.head(of: id) }
        } catch {
            return change(id) { $0.course.lookedInVain(at: now()) }
        }
        guard let head else {
            return change(id) { told in
                told.pending = told.course.news == news ? 0 : told.pending
                told.course.foundNothing(asOf: news)
            }
        }
        let (outcome, at, duration) = await post(head.body, id: head.messageID, to: endpoint, over: &kept)
        // Broken off by us: it will be sent again, as if nothing had been tried.
        guard !Task.isCancelled || outcome.status != nil else { return }
        let attempt = DeliveryAttempt(number: head.tries + 1, at: at, duration: duration, outcome: outcome)
        await settle(head, of: id, after: attempt)
    }

    /// Signs and posts a body.
    func post(
        _ body: [UInt8],
        id: String,
        to endpoint: WebhookEndpoint,
        over kept: inout EndpointConnection?
    ) async -> (outcome: DeliveryOutcome, at: Double, duration: Double) {
        // Receivers compare the time with their own, so that it is the wall clock's.
        let timestamp = Date().timeIntervalSince1970
        let letter = EndpointPoster.Letter(
            id: id,
            body: body,
            timestamp: timestamp,
            signatures: endpoint.signatures(id: id, at: timestamp, body: body)
        )
        let start = ContinuousClock.now
        let outcome = await poster.post(letter, to: endpoint.address, over: &kept)
        return (outcome, timestamp, (ContinuousClock.now - start) / .seconds(1))
    }

    private func settle(_ head: OutboxDatabase.Head, of id: String, after attempt: DeliveryAttempt) async {
        let now = now()
        let decided: (WebhookEndpoint, EndpointCourse.Verdict)? = state.withLock { state in
            state.tries[attempt.outcome.kind, default: 0] += 1
            guard var told = state.told[id] else { return nil }
            let verdict = told.course.finished(
                attempt.outcome,
                tries: attempt.number,
                at: now,
                chance: Double.random(in: 0...1)
            )
            switch verdict {
            case .delivered, .givenUp:
                told.pending = max(told.pending - 1, 0)
            case .again:
                break
            case .disable(let reason):
                told.pending = 0
                told.endpoint.disabled = reason
                told.endpoint.updatedAt = now
            }
            state.told[id] = told
            return (told.current, verdict)
        }
        guard let (endpoint, verdict) = decided else { return }
        note(verdict, of: endpoint, after: attempt)
        let record: DeliveryRecord.State =
            switch verdict {
            case .delivered: .delivered
            case .again: .pending
            case .givenUp, .disable: .failed
            }
        // Until it is written down nothing else is sent: the message would come a second time.
        repeat {
            do {
                return try await outbox.perform { (database) throws(StoreFault) in
                    try database.settle(head.sequence, of: endpoint, as: record, after: attempt)
                }
            } catch {
                logger.warning("a delivery cannot be noted; trying again", metadata: ["reason": "\(error.reason)"])
            }
            // Cancellation ends the sleep and, with it, the loop.
            try? await Task.sleep(for: .seconds(Self.settlingPause))
        } while !Task.isCancelled
    }

    private func note(_ verdict: EndpointCourse.Verdict, of endpoint: WebhookEndpoint, after attempt: DeliveryAttempt) {
        var metadata: Logger.Metadata = [
            "webhook": "\(endpoint.id)", "address": "\(endpoint.address.masked)",
            "outcome": "\(attempt.outcome.kind.rawValue)",
        ]
        if let status = attempt.outcome.status { metadata["status"] = "\(status)" }
        switch verdict {
        case .delivered:
            break
        case .again:
            // The first of a row; what follows is told by the figures.
            if endpoint.health.failures == 1 { logger.notice("a webhook failed", metadata: metadata) }
        case .givenUp:
            logger.warning("a webhook is refused for what it says, and given up", metadata: metadata)
        case .disable(let reason):
            metadata["reason"] = "\(reason.rawValue)"
            logger.error("a webhook endpoint is turned off", metadata: metadata)
            state.withLock { $0.whenDisabled }?(endpoint)
        }
    }

    private func change(_ id: String, _ body: (inout ToldEndpoint) -> Void) {
        state.withLock { state in
            guard var told = state.told[id] else { return }
            body(&told)
            state.told[id] = told
        }
    }
}
