public import FootlightModel
public import Foundation
public import Logging
import Media
public import NIOCore
import OutboundHTTP
import Synchronization

/// Stores events and posts them to every subscribed endpoint until they are accepted.
///
/// `post` may be called on any thread and costs a lock; it is not affected by a full disk or a slow endpoint. Events
/// are stored in the order of the calls, and each endpoint receives them in that order, by its own task and connection.
/// Messages whose acceptance was not stored before a crash are sent again with the same id.
public final class WebhookDispatcher: Sendable {
    struct State: Sendable {
        /// The endpoints by id.
        var endpoints: [String: EndpointState] = [:]
        /// Events that are not stored yet, with the ids of their messages.
        var incoming: [(event: WebhookEvent, id: String)] = []
        /// Whether a write of the incoming events is scheduled.
        var isWriting = false
        var writeFailures = 0
        var tries: [WebhookAttemptOutcome: Int] = [:]
        var dropped = 0
        var onEndpointDisabled: (@Sendable (WebhookEndpoint) -> Void)?
    }

    let configuration: WebhookConfiguration
    let logger: Logger
    let outbox: Outbox
    let poster: WebhookClient
    let now: @Sendable () -> Double
    let state: Mutex<State>
    /// The ids of endpoints for which no delivery task runs yet.
    let newEndpoints: AsyncStream<String>
    let newEndpointContinuation: AsyncStream<String>.Continuation

    /// Creates a dispatcher; the database is opened by `load()`.
    ///
    /// - Parameters:
    ///   - store: Used by this dispatcher only.
    ///   - vet: Resolves a host, and decides whether it may be connected to.
    ///   - group: The event loops of the connections.
    public convenience init(
        _ configuration: WebhookConfiguration,
        store: any WebhookStore,
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        logger: Logger
    ) {
        // The wall clock is read once and continued by a monotonic clock, so that delays do not change when it is set.
        let wall = Date().timeIntervalSince1970
        let start = ContinuousClock.now
        self.init(configuration, store: store, vet: vet, group: group, logger: logger) {
            wall + (ContinuousClock.now - start) / .seconds(1)
        }
    }

    init(
        _ configuration: WebhookConfiguration,
        store: any WebhookStore,
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        logger: Logger,
        now: @escaping @Sendable () -> Double
    ) {
        self.configuration = configuration
        self.logger = logger
        self.now = now
        poster = WebhookClient(
            vet: vet,
            group: group,
            limit: configuration.deadline,
            allowsPlainHTTP: configuration.allowsPlainHTTP
        )
        outbox = Outbox(store)
        state = Mutex(State())
        (newEndpoints, newEndpointContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
        store.setKnownEndpoints { [weak self] in
            self?.state.withLock { $0.endpoints.values.map(\.current) } ?? []
        }
    }

    /// Loads the stored endpoints; call once, before any event is posted.
    ///
    /// Blocks on disk I/O. If the database cannot be read, logs an error and continues without endpoints.
    public func load() {
        do {
            let known = try outbox.store.endpoints()
            state.withLock { state in
                for (endpoint, pending) in known {
                    state.endpoints[endpoint.id] = EndpointState(
                        endpoint,
                        schedule: configuration.schedule,
                        pending: pending
                    )
                }
            }
            for (endpoint, _) in known { newEndpointContinuation.yield(endpoint.id) }
        } catch {
            logger.error(
                "cannot read webhook endpoints; continuing without them",
                metadata: ["reason": "\(error)"]
            )
        }
    }

    /// Sets the handler that is called, on any thread, when an endpoint is disabled because of its responses.
    public func onEndpointDisabled(_ body: @escaping @Sendable (WebhookEndpoint) -> Void) {
        state.withLock { $0.onEndpointDisabled = body }
    }

    /// Checks on the outbox's queue whether events can be stored.
    ///
    /// - Parameter answer: Called on the queue with the problem, or nil if there is none.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        outbox.later { [self] in
            // A database that had to be replaced works again, but its loss is reported once.
            let quarantined = outbox.store.faultCounts.quarantined
            do {
                try outbox.store.probe()
                answer(
                    outbox.store.faultCounts.quarantined == quarantined
                        ? nil : "the database was lost or damaged, and was created again"
                )
            } catch {
                answer("\(error)")
            }
        }
    }

    /// Closes the database; a later event reopens it.
    public func close() async {
        await withCheckedContinuation { closed in
            outbox.later { [outbox] in
                outbox.store.close()
                closed.resume()
            }
        }
    }

    /// The current status.
    public var status: WebhookStatus {
        let faultCounts = outbox.store.faultCounts
        return state.withLock { state in
            var status = WebhookStatus()
            for endpoints in state.endpoints.values {
                if !endpoints.scheduler.isEnabled {
                    status.disabled += 1
                } else if endpoints.scheduler.health.failures > 0 {
                    status.failing += 1
                } else {
                    status.healthy += 1
                }
                status.pending += endpoints.pending
            }
            status.tries = state.tries
            status.dropped = state.dropped
            (status.storeFailures, status.quarantined) = faultCounts
            return status
        }
    }
}

/// The state of webhooks over all endpoints.
public struct WebhookStatus: Sendable, Hashable {
    /// Enabled endpoints whose latest attempt succeeded, or that have had none.
    public var healthy = 0
    /// Enabled endpoints whose latest attempt failed.
    public var failing = 0
    /// Disabled endpoints.
    public var disabled = 0
    /// Pending deliveries.
    public var pending = 0
    /// Attempts since the start, by outcome.
    public var tries: [WebhookAttemptOutcome: Int] = [:]
    /// Deliveries dropped since the start because too many were pending or the message was too large.
    public var dropped = 0
    /// Failed transactions since the start.
    public var storeFailures = 0
    /// Databases quarantined since the start.
    public var quarantined = 0

    /// Creates the initial status.
    public init() {}
}

/// The commands of operators.
extension WebhookDispatcher {
    private static let longestText = 256
    private static let mostTypes = 64

    /// Returns all endpoints in order of creation.
    public func endpoints() -> [WebhookEndpoint] {
        state.withLock { $0.endpoints.values.map(\.current) }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// Returns the number of pending deliveries of an endpoint.
    public func pending(of id: String) -> Int {
        state.withLock { $0.endpoints[id]?.pending ?? 0 }
    }

    /// Returns an endpoint.
    ///
    /// - Throws: `notFound`.
    public func endpoint(_ id: String) throws(WebhookFault) -> WebhookEndpoint {
        guard let endpoints = state.withLock({ $0.endpoints[id] }) else { throw .notFound }
        return endpoints.current
    }

    /// Changes whether endpoints without TLS are allowed, for new ones and for deliveries.
    public func setAllowsPlainHTTP(_ isAllowed: Bool) {
        poster.allowsPlainHTTP.store(isAllowed, ordering: .relaxed)
    }

    private var allowsPlainHTTP: Bool { poster.allowsPlainHTTP.load(ordering: .relaxed) }

    /// Creates an endpoint with a new secret.
    ///
    /// - Throws: `invalid`, `tooMany`, or `unavailable` if the endpoint cannot be stored.
    public func create(_ draft: WebhookDraft) async throws(WebhookFault) -> WebhookEndpoint {
        guard let url = draft.url else { throw .invalid(field: "url", rule: "must be given") }
        let now = now()
        var endpoint = WebhookEndpoint(
            id: RandomID.make("WH"),
            address: try EndpointAddress(url, allowsPlainHTTP: allowsPlainHTTP),
            text: "",
            filter: EventFilter(),
            secret: WebhookSecret(),
            createdAt: now,
            updatedAt: now
        )
        try apply(draft, to: &endpoint)
        let made = endpoint
        let isTaken = state.withLock { state in
            guard state.endpoints.count < configuration.maximumEndpoints else { return false }
            state.endpoints[made.id] = EndpointState(made, schedule: configuration.schedule)
            return true
        }
        guard isTaken else { throw .tooMany(configuration.maximumEndpoints) }
        do {
            try await withStore { try $0.save([made]) }
        } catch {
            state.withLock { $0.endpoints[made.id] = nil }
            throw error
        }
        newEndpointContinuation.yield(made.id)
        return made
    }

    /// Changes an endpoint; disabling it drops its pending deliveries, enabling it resets its failures.
    ///
    /// - Throws: The errors of `create`, and `notFound`.
    public func change(_ id: String, _ draft: WebhookDraft) async throws(WebhookFault) -> WebhookEndpoint {
        var endpoint = try endpoint(id)
        if let url = draft.url {
            endpoint.address = try EndpointAddress(url, allowsPlainHTTP: allowsPlainHTTP)
        }
        try apply(draft, to: &endpoint)
        endpoint.updatedAt = now()
        // Failures of the old address do not apply to the new one.
        return try await save(endpoint, isMoved: draft.url != nil)
    }

    /// Replaces the secret of an endpoint; the former one also signs for a limited time.
    public func rotate(_ id: String) async throws(WebhookFault) -> WebhookEndpoint {
        var endpoint = try endpoint(id)
        let now = now()
        endpoint.former = .init(secret: endpoint.secret, until: now + configuration.rotationOverlap)
        endpoint.secret = WebhookSecret()
        endpoint.updatedAt = now
        return try await save(endpoint)
    }

    /// Removes an endpoint and its pending deliveries.
    public func remove(_ id: String) async throws(WebhookFault) {
        _ = try endpoint(id)
        try await withStore { try $0.remove(id) }
        state.withLock { $0.endpoints.removeValue(forKey: id) }?.signal.fire()
    }

    /// Removes the endpoints of shows that are gone, with their pending deliveries.
    ///
    /// Nothing is posted to them from now on. Those that cannot be removed from the disk are removed at the next start.
    ///
    /// - Parameter isGone: Whether the show of a name is gone.
    public func removeEndpoints(whereShow isGone: (_ show: String) -> Bool) async {
        let removed = state.withLock { state in
            let ids = state.endpoints.filter { $0.value.endpoint.filter.show.map(isGone) ?? false }.map(\.key)
            return ids.compactMap { state.endpoints.removeValue(forKey: $0) }
        }
        for gone in removed {
            gone.signal.fire()
            do {
                try await outbox.perform { try $0.remove(gone.endpoint.id) }
            } catch {
                logger.warning(
                    "cannot delete the webhook of a show that is gone",
                    metadata: ["webhook": "\(gone.endpoint.id)", "reason": "\(error)"]
                )
            }
        }
    }

    /// Posts one test message at once, independent of the queue, even if the endpoint is disabled.
    ///
    /// If the endpoint accepts it, pending messages are retried at once.
    ///
    /// - Parameter data: The resource of the message as JSON.
    public func test(_ id: String, type: WebhookEventType, data: Data) async throws(WebhookFault) -> DeliveryAttempt {
        let endpoint = try endpoint(id)
        let at = Date().timeIntervalSince1970
        let body = OutboxMessage.body(type: type, at: at, sequence: Int64(at * 1000), data: data)
        var connection: OutboundConnection?
        let (outcome, began, duration) = await post(
            [UInt8](body),
            id: RandomID.make("msg_"),
            to: endpoint,
            over: &connection
        )
        let signal = state.withLock { state in
            state.tries[outcome.kind, default: 0] += 1
            if outcome.kind == .delivered { state.endpoints[id]?.scheduler.recovered() }
            return state.endpoints[id]?.signal
        }
        signal?.fire()
        return DeliveryAttempt(number: 1, at: began, duration: duration, outcome: outcome)
    }

    /// Returns the deliveries of an endpoint, latest first.
    ///
    /// - Parameter before: Returns deliveries with a lower sequence number; nil to start with the latest.
    public func deliveries(
        of id: String,
        before: Int64? = nil,
        limit: Int
    ) async throws(WebhookFault) -> [DeliveryRecord] {
        _ = try endpoint(id)
        return try await withStore { try $0.deliveries(of: id, before: before, limit: limit) }
    }

    private func apply(_ draft: WebhookDraft, to endpoint: inout WebhookEndpoint) throws(WebhookFault) {
        if let text = draft.text {
            guard text.utf8.count <= Self.longestText else {
                throw .invalid(field: "description", rule: "must have at most \(Self.longestText) bytes")
            }
            endpoint.text = text
        }
        if let types = draft.types {
            guard types.count <= Self.mostTypes,
                types.allSatisfy({ !$0.rawValue.isEmpty && !$0.rawValue.contains(" ") })
            else {
                throw .invalid(field: "types", rule: "must be at most \(Self.mostTypes) names of events")
            }
            endpoint.filter.types = types
        }
        if let show = draft.show { endpoint.filter.show = show }
        if let room = draft.room {
            if room != nil, endpoint.filter.show != nil {
                throw .invalid(field: "room", rule: "cannot be given for a webhook of a show, which is for its rooms")
            }
            if let room, !(1...Self.longestText).contains(room.utf8.count) {
                throw .invalid(field: "room", rule: "must be the unique name or the sid of a room")
            }
            endpoint.filter.room = room
        }
        guard let isEnabled = draft.isEnabled else { return }
        if isEnabled {
            endpoint.disabled = nil
        } else if endpoint.disabled == nil {
            endpoint.disabled = .byOperator
        }
    }

    /// Stores a changed endpoint, updates its state and wakes its delivery task.
    private func save(
        _ changed: WebhookEndpoint,
        isMoved: Bool = false
    ) async throws(WebhookFault) -> WebhookEndpoint {
        func updateScheduler(_ scheduler: inout DeliveryScheduler) {
            scheduler.enable(changed.disabled == nil)
            if isMoved { scheduler.recovered() }
        }
        var scheduler =
            state.withLock { $0.endpoints[changed.id]?.scheduler }
            ?? DeliveryScheduler(schedule: configuration.schedule)
        updateScheduler(&scheduler)
        var endpoint = changed
        endpoint.health = scheduler.health
        let kept = endpoint
        let now = now()
        try await withStore { store in
            if kept.disabled == nil { try store.save([kept]) } else { try store.disable(kept, at: now) }
        }
        let endpoints: EndpointState? = state.withLock { state in
            guard var endpoints = state.endpoints[kept.id] else { return nil }
            endpoints.endpoint = kept
            updateScheduler(&endpoints.scheduler)
            if kept.disabled != nil { endpoints.pending = 0 }
            state.endpoints[kept.id] = endpoints
            return endpoints
        }
        guard let endpoints else { throw .notFound }
        endpoints.signal.fire()
        return endpoints.current
    }

    private func withStore<Outcome: Sendable>(
        _ body: @escaping @Sendable (any WebhookStore) throws -> Outcome
    ) async throws(WebhookFault) -> Outcome {
        do {
            return try await outbox.perform(body)
        } catch {
            throw .unavailable
        }
    }
}

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
                try await outbox.perform { try $0.deleteSettled(settledBefore: limit) }
            } catch {
                logger.warning("cannot delete expired webhook deliveries", metadata: ["reason": "\(error)"])
            }
            // Cancellation ends the sleep and thereby the loop.
            try? await Task.sleep(for: .seconds(Self.expiryInterval))
        }
    }

    /// Delivers to one endpoint until it is removed or the task is cancelled.
    private func deliver(to id: String) async {
        var reusable: OutboundConnection?
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
                reusable = nil
                await signal.wait(atMost: min(until - now, Self.maximumSleep))
            case .rest:
                reusable = nil
                await signal.wait()
            }
        }
    }

    /// Sends the oldest pending message of an endpoint, and stores the outcome.
    private func send(to id: String, over reusable: inout OutboundConnection?) async {
        guard
            let (endpoint, queueVersion) = state.withLock({ state in
                state.endpoints[id].map { ($0.endpoint, $0.scheduler.queueVersion) }
            })
        else { return }
        let head: PendingDelivery?
        do {
            head = try await outbox.perform { try $0.head(of: id) }
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
        over reusable: inout OutboundConnection?
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

    private func settle(_ head: PendingDelivery, of id: String, after attempt: DeliveryAttempt) async {
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
                return try await outbox.perform { store in
                    try store.settle(head.sequence, of: endpoint, as: record, after: attempt)
                }
            } catch {
                logger.warning("cannot store a webhook delivery; retrying", metadata: ["reason": "\(error)"])
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
            // One id for all attempts: a database that did not answer may have stored the message.
            state.incoming.append((event, RandomID.make("msg_")))
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { outbox.later { [self] in write() } }
    }

    /// Whether any endpoint would receive such an event.
    public func hasSubscribers(_ event: WebhookEvent) -> Bool {
        state.withLock { !$0.recipients(of: event).isEmpty }
    }

    /// Whether any endpoint would receive events of a type, of all rooms or of some.
    public func hasSubscribers(to type: WebhookEventType) -> Bool {
        state.withLock { state in
            state.endpoints.values.contains { $0.scheduler.isEnabled && $0.endpoint.filter.selects(type) }
        }
    }

    /// Returns the stored value of a mark; nil if there is none.
    ///
    /// - Throws: `unavailable` if the database cannot be read.
    public func mark(_ name: String) async throws(WebhookFault) -> Int64? {
        do {
            return try await outbox.perform { try $0.mark(name) }
        } catch {
            throw .unavailable
        }
    }

    /// Writes the incoming events; called on the outbox's queue.
    private func write() {
        let (events, recipients) = state.withLock { state in
            (state.incoming, state.incoming.map { state.recipients(of: $0.event) })
        }
        let messages = zip(events, recipients).compactMap { message(of: $0.event, id: $0.id, to: $1) }
        do {
            try outbox.store.append(messages, now: now())
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
                dropped[id] = try outbox.store.drop(beyond: configuration.maximumPending, of: id, at: now())
            } catch {
                // The messages are stored; the next write drops the excess.
                logger.warning("cannot drop excess webhook deliveries", metadata: ["reason": "\(error)"])
            }
        }
        return dropped
    }

    private func message(of event: WebhookEvent, id: String, to recipients: [String]) -> OutboxMessage? {
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
            id: id,
            type: event.type,
            room: event.room?.name ?? "",
            at: event.at,
            data: data,
            recipients: recipients,
            mark: event.mark,
            roomSID: event.room?.sid
        )
    }

    private func retryWrite(after fault: any Error) {
        let failures = state.withLock { state in
            state.writeFailures += 1
            return state.writeFailures
        }
        // Logs the first failure and every twentieth after it.
        if failures % 20 == 1 {
            logger.error(
                "cannot store webhook messages; retrying",
                metadata: ["reason": "\(fault)", "failures": "\(failures)"]
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
