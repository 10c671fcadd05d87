import FootlightModel
public import Foundation
import SQLiteStore
import Synchronization

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

    /// Creates an endpoint with a new secret.
    ///
    /// - Throws: `invalid`, `tooMany`, or `unavailable` if the endpoint cannot be stored.
    public func create(_ draft: WebhookDraft) async throws(WebhookFault) -> WebhookEndpoint {
        guard let url = draft.url else { throw .invalid(field: "url", rule: "must be given") }
        let now = now()
        var endpoint = WebhookEndpoint(
            id: RandomID.make("WH"),
            address: try EndpointAddress(url, allowsPlainHTTP: configuration.allowsPlainHTTP),
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
            try await withStore { (database) throws(StoreFault) in try database.save([made]) }
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
            endpoint.address = try EndpointAddress(url, allowsPlainHTTP: configuration.allowsPlainHTTP)
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
        try await withStore { (database) throws(StoreFault) in try database.remove(id) }
        state.withLock { $0.endpoints.removeValue(forKey: id) }?.signal.fire()
    }

    /// Posts one test message at once, independent of the queue, even if the endpoint is disabled.
    ///
    /// If the endpoint accepts it, pending messages are retried at once.
    ///
    /// - Parameter data: The resource of the message as JSON.
    public func test(_ id: String, type: String, data: Data) async throws(WebhookFault) -> DeliveryAttempt {
        let endpoint = try endpoint(id)
        let at = Date().timeIntervalSince1970
        let body = OutboxMessage.body(type: type, at: at, sequence: Int64(at * 1000), data: data)
        var kept: EndpointConnection?
        let (outcome, began, duration) = await post(
            [UInt8](body),
            id: RandomID.make("msg_"),
            to: endpoint,
            over: &kept
        )
        kept?.close()
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
        return try await withStore { (database) throws(StoreFault) in
            try database.deliveries(of: id, before: before, limit: limit)
        }
    }

    private func apply(_ draft: WebhookDraft, to endpoint: inout WebhookEndpoint) throws(WebhookFault) {
        if let text = draft.text {
            guard text.utf8.count <= Self.longestText else {
                throw .invalid(field: "description", rule: "must have at most \(Self.longestText) bytes")
            }
            endpoint.text = text
        }
        if let types = draft.types {
            guard types.count <= Self.mostTypes, types.allSatisfy({ !$0.isEmpty && !$0.contains(" ") }) else {
                throw .invalid(field: "types", rule: "must be at most \(Self.mostTypes) names of events")
            }
            endpoint.filter.types = types
        }
        if let room = draft.room {
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
        try await withStore { (database) throws(StoreFault) in
            if kept.disabled == nil { try database.save([kept]) } else { try database.disable(kept, at: now) }
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
        _ body: @escaping @Sendable (OutboxDatabase) throws(StoreFault) -> Outcome
    ) async throws(WebhookFault) -> Outcome {
        do {
            return try await outbox.perform(body)
        } catch {
            throw .unavailable
        }
    }
}
