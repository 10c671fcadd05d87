import FootlightModel
import Foundation
import Logging
import SQLiteStore
import Synchronization

/// Delivers stored messages to the endpoints.
extension WebhookDispatcher {
    /// The interval at which expired deliveries are deleted, in seconds.
    private static let expiryInterval = 600.0
    /// The maximum time for which a delivery task sleeps before it checks the clock, in seconds.
    private static let maximumSleep = 60.0
    /// The delay before an outcome is stored again after a failure, in seconds.
    private static let settleRetryDelay = 2.0

    /// Runs all delivery tasks until the task is cancelled; call once.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.deleteExpired() }
            for await id in newEndpoints {
                group.addTask { await self.deliver(to: id) }
            }
        }
    }

    private func deleteExpired() async {
        while !Task.isCancelled {
            do {
                let limit = now() - configuration.retention
                try await outbox.perform { (database) throws(StoreFault) in
                    try database.deleteSettled(settledBefore: limit)
                }
            } catch {
                logger.warning("cannot delete expired webhook deliveries", metadata: ["reason": "\(error.reason)"])
            }
            // Cancellation ends the sleep and thereby the loop.
            try? await Task.sleep(for: .seconds(Self.expiryInterval))
        }
    }

    /// Delivers to one endpoint until it is removed or the task is cancelled.
    private func deliver(to id: String) async {
        var reusable: EndpointConnection?
        defer { reusable?.close() }
        while !Task.isCancelled {
            let now = now()
            let turn = state.withLock { state in
                state.endpoints[id] == nil
                    ? nil : (state.endpoints[id]?.scheduler.next(at: now), state.endpoints[id]?.signal)
            }
            guard let (next, signal) = turn, let next, let signal else { return }
            switch next {
            case .send:
                await send(to: id, over: &reusable)
            case .wait(let until):
                reusable?.close()
                reusable = nil
                await signal.wait(atMost: min(until - now, Self.maximumSleep))
            case .rest:
                reusable?.close()
                reusable = nil
                await signal.wait()
            }
        }
    }

    /// Sends the oldest pending message of an endpoint, and stores the outcome.
    private func send(to id: String, over reusable: inout EndpointConnection?) async {
        guard
            let (endpoint, queueVersion) = state.withLock({ state in
                state.endpoints[id].map { ($0.endpoint, $0.scheduler.queueVersion) }
            })
        else { return }
        let head: OutboxDatabase.Head?
        do {
            head = try await outbox.perform { (database) throws(StoreFault) in try database.head(of: id) }
        } catch {
            return change(id) { $0.scheduler.readFailed(at: now()) }
        }
        guard let head else {
            return change(id) { endpoints in
                endpoints.pending = endpoints.scheduler.queueVersion == queueVersion ? 0 : endpoints.pending
                endpoints.scheduler.foundEmpty(asOf: queueVersion)
            }
        }
        let (outcome, at, duration) = await post(head.body, id: head.messageID, to: endpoint, over: &reusable)
        // The attempt was cancelled by this process; the message stays pending.
        guard !Task.isCancelled || outcome.status != nil else { return }
        let attempt = DeliveryAttempt(number: head.tries + 1, at: at, duration: duration, outcome: outcome)
        await settle(head, of: id, after: attempt)
    }

    /// Signs and posts a body.
    func post(
        _ body: [UInt8],
        id: String,
        to endpoint: WebhookEndpoint,
        over reusable: inout EndpointConnection?
    ) async -> (outcome: DeliveryOutcome, at: Double, duration: Double) {
        // Receivers compare the timestamp to their own clock, so it is the wall clock's.
        let timestamp = Date().timeIntervalSince1970
        let message = WebhookClient.SignedMessage(
            id: id,
            body: body,
            timestamp: timestamp,
            signatures: endpoint.signatures(id: id, at: timestamp, body: body)
        )
        let start = ContinuousClock.now
        let outcome = await poster.post(message, to: endpoint.address, over: &reusable)
        return (outcome, timestamp, (ContinuousClock.now - start) / .seconds(1))
    }

    private func settle(_ head: OutboxDatabase.Head, of id: String, after attempt: DeliveryAttempt) async {
        let now = now()
        let decided: (WebhookEndpoint, DeliveryScheduler.Verdict)? = state.withLock { state in
            state.tries[attempt.outcome.kind, default: 0] += 1
            guard var endpoints = state.endpoints[id] else { return nil }
            let verdict = endpoints.scheduler.finished(
                attempt.outcome,
                tries: attempt.number,
                at: now,
                chance: Double.random(in: 0...1)
            )
            switch verdict {
            case .delivered, .givenUp:
                endpoints.pending = max(endpoints.pending - 1, 0)
            case .again:
                break
            case .disable(let reason):
                endpoints.pending = 0
                endpoints.endpoint.disabled = reason
                endpoints.endpoint.updatedAt = now
            }
            state.endpoints[id] = endpoints
            return (endpoints.current, verdict)
        }
        guard let (endpoint, verdict) = decided else { return }
        logOutcome(verdict, of: endpoint, after: attempt)
        let record: WebhookDeliveryState =
            switch verdict {
            case .delivered: .delivered
            case .again: .pending
            case .givenUp, .disable: .failed
            }
        // Nothing else is sent before the outcome is stored; otherwise the message would be sent again.
        repeat {
            do {
                return try await outbox.perform { (database) throws(StoreFault) in
                    try database.settle(head.sequence, of: endpoint, as: record, after: attempt)
                }
            } catch {
                logger.warning("cannot store a webhook delivery; retrying", metadata: ["reason": "\(error.reason)"])
            }
            // Cancellation ends the sleep and thereby the loop.
            try? await Task.sleep(for: .seconds(Self.settleRetryDelay))
        } while !Task.isCancelled
    }

    private func logOutcome(
        _ verdict: DeliveryScheduler.Verdict,
        of endpoint: WebhookEndpoint,
        after attempt: DeliveryAttempt
    ) {
        var metadata: Logger.Metadata = [
            "webhook": "\(endpoint.id)", "address": "\(endpoint.address.masked)",
            "outcome": "\(attempt.outcome.kind.rawValue)",
        ]
        if let status = attempt.outcome.status { metadata["status"] = "\(status)" }
        switch verdict {
        case .delivered:
            break
        case .again:
            // Logs the first of consecutive failures; metrics count the others.
            if endpoint.health.failures == 1 { logger.notice("webhook delivery failed", metadata: metadata) }
        case .givenUp:
            logger.warning("webhook message rejected by content; given up", metadata: metadata)
        case .disable(let reason):
            metadata["reason"] = "\(reason.rawValue)"
            logger.error("webhook endpoint disabled", metadata: metadata)
            state.withLock { $0.onEndpointDisabled }?(endpoint)
        }
    }

    private func change(_ id: String, _ body: (inout EndpointState) -> Void) {
        state.withLock { state in
            guard var endpoints = state.endpoints[id] else { return }
            body(&endpoints)
            state.endpoints[id] = endpoints
        }
    }
}
