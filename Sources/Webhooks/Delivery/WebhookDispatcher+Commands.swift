public import Foundation
import SQLiteStore
import Synchronization

/// What operators do with endpoints.
extension WebhookDispatcher {
    private static let longestText = 256
    private static let mostTypes = 64

    /// All endpoints, in the order in which they were made.
    public func endpoints() -> [WebhookEndpoint] {
        state.withLock { $0.told.values.map(\.current) }.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// How many deliveries wait for an endpoint.
    public func pending(of id: String) -> Int {
        state.withLock { $0.told[id]?.pending ?? 0 }
    }

    /// An endpoint by its id.
    ///
    /// - Throws: `notFound`.
    public func endpoint(_ id: String) throws(WebhookFault) -> WebhookEndpoint {
        guard let told = state.withLock({ $0.told[id] }) else { throw .notFound }
        return told.current
    }

    /// Makes an endpoint with a secret of its own.
    ///
    /// - Throws: `invalid` for what it says, `tooMany`, and `unavailable` when it cannot be kept.
    public func create(_ draft: WebhookDraft) async throws(WebhookFault) -> WebhookEndpoint {
        guard let url = draft.url else { throw .invalid(field: "url", rule: "must be given") }
        let now = now()
        var endpoint = WebhookEndpoint(
            id: RandomName.make("WH"),
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
            guard state.told.count < configuration.maximumEndpoints else { return false }
            state.told[made.id] = ToldEndpoint(made, schedule: configuration.schedule)
            return true
        }
        guard isTaken else { throw .tooMany(configuration.maximumEndpoints) }
        do {
            try await keep { (database) throws(StoreFault) in try database.save([made]) }
        } catch {
            state.withLock { $0.told[made.id] = nil }
            throw error
        }
        newcomer.yield(made.id)
        return made
    }

    /// Changes an endpoint; one that is turned off loses what waits for it, one that is turned on begins anew.
    ///
    /// - Throws: As `create`, and `notFound`.
    public func change(_ id: String, _ draft: WebhookDraft) async throws(WebhookFault) -> WebhookEndpoint {
        var endpoint = try endpoint(id)
        if let url = draft.url {
            endpoint.address = try EndpointAddress(url, allowsPlainHTTP: configuration.allowsPlainHTTP)
        }
        try apply(draft, to: &endpoint)
        endpoint.updatedAt = now()
        // What was wrong with the old address says nothing of the new one.
        return try await put(endpoint, isMoved: draft.url != nil)
    }

    /// Gives an endpoint a new secret; the former one signs along for a while.
    public func rotate(_ id: String) async throws(WebhookFault) -> WebhookEndpoint {
        var endpoint = try endpoint(id)
        let now = now()
        endpoint.former = .init(secret: endpoint.secret, until: now + configuration.rotationOverlap)
        endpoint.secret = WebhookSecret()
        endpoint.updatedAt = now
        return try await put(endpoint)
    }

    /// Takes an endpoint away, and all that waits for it.
    public func remove(_ id: String) async throws(WebhookFault) {
        _ = try endpoint(id)
        try await keep { (database) throws(StoreFault) in try database.remove(id) }
        state.withLock { $0.told.removeValue(forKey: id) }?.bell.ring()
    }

    /// Posts one message at once, beside the order of the others, whether the endpoint is on or not.
    ///
    /// One that takes it while others wait gets those now.
    ///
    /// - Parameter data: The resource that the message is about, as JSON.
    public func test(_ id: String, type: String, data: Data) async throws(WebhookFault) -> DeliveryAttempt {
        let endpoint = try endpoint(id)
        let at = Date().timeIntervalSince1970
        let body = OutboxMessage.body(type: type, at: at, sequence: Int64(at * 1000), data: data)
        var kept: EndpointConnection?
        let (outcome, began, duration) = await post(
            [UInt8](body),
            id: RandomName.make("msg_"),
            to: endpoint,
            over: &kept
        )
        kept?.close()
        let bell = state.withLock { state in
            state.tries[outcome.kind, default: 0] += 1
            if outcome.kind == .delivered { state.told[id]?.course.recovered() }
            return state.told[id]?.bell
        }
        bell?.ring()
        return DeliveryAttempt(number: 1, at: began, duration: duration, outcome: outcome)
    }

    /// What became of the messages to an endpoint, the latest first.
    ///
    /// - Parameter before: The number of the message behind which the list goes on; nil for its beginning.
    public func deliveries(
        of id: String,
        before: Int64? = nil,
        limit: Int
    ) async throws(WebhookFault) -> [DeliveryRecord] {
        _ = try endpoint(id)
        return try await keep { (database) throws(StoreFault) in
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

    /// Keeps a changed endpoint, on disk first, and wakes whoever delivers to it.
    private func put(
        _ changed: WebhookEndpoint,
        isMoved: Bool = false
    ) async throws(WebhookFault) -> WebhookEndpoint {
        func steer(_ course: inout EndpointCourse) {
            course.enable(changed.disabled == nil)
            if isMoved { course.recovered() }
        }
        var course = state.withLock { $0.told[changed.id]?.course } ?? EndpointCourse(schedule: configuration.schedule)
        steer(&course)
        var endpoint = changed
        endpoint.health = course.health
        let kept = endpoint
        let now = now()
        try await keep { (database) throws(StoreFault) in
            if kept.disabled == nil { try database.save([kept]) } else { try database.disable(kept, at: now) }
        }
        let told: ToldEndpoint? = state.withLock { state in
            guard var told = state.told[kept.id] else { return nil }
            told.endpoint = kept
            steer(&told.course)
            if kept.disabled != nil { told.pending = 0 }
            state.told[kept.id] = told
            return told
        }
        guard let told else { throw .notFound }
        told.bell.ring()
        return told.current
    }

    private func keep<Outcome: Sendable>(
        _ body: @escaping @Sendable (OutboxDatabase) throws(StoreFault) -> Outcome
    ) async throws(WebhookFault) -> Outcome {
        do {
            return try await outbox.perform(body)
        } catch {
            throw .unavailable
        }
    }
}
