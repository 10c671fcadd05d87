public import FootlightModel
import Foundation
public import Logging
public import NIOCore
import SQLiteStore
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
        /// Events that are not stored yet.
        var incoming: [WebhookEvent] = []
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
    ///   - vet: Resolves a host, and decides whether it may be connected to.
    ///   - group: The event loops of the connections.
    /// - Throws: An error if the system's certificates cannot be read.
    public convenience init(
        _ configuration: WebhookConfiguration,
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        logger: Logger
    ) throws {
        // The wall clock is read once and continued by a monotonic clock, so that delays do not change when it is set.
        let wall = Date().timeIntervalSince1970
        let start = ContinuousClock.now
        try self.init(configuration, vet: vet, group: group, logger: logger) {
            wall + (ContinuousClock.now - start) / .seconds(1)
        }
    }

    init(
        _ configuration: WebhookConfiguration,
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        logger: Logger,
        now: @escaping @Sendable () -> Double
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.now = now
        poster = try WebhookClient(
            vet: vet,
            group: group,
            limit: configuration.deadline,
            allowsPlainHTTP: configuration.allowsPlainHTTP
        )
        let known = EndpointSource()
        outbox = Outbox(configuration, logger: logger) { known.endpoints() }
        state = Mutex(State())
        (newEndpoints, newEndpointContinuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
        known.set { [weak self] in
            self?.state.withLock { $0.endpoints.values.map(\.current) } ?? []
        }
    }

    /// Provides the endpoints for a new database; created before the dispatcher that it asks.
    private final class EndpointSource: Sendable {
        private let ask = Mutex<(@Sendable () -> [WebhookEndpoint])?>(nil)

        func set(_ ask: @escaping @Sendable () -> [WebhookEndpoint]) {
            self.ask.withLock { $0 = ask }
        }

        func endpoints() -> [WebhookEndpoint] {
            ask.withLock { $0 }?() ?? []
        }
    }

    /// Loads the stored endpoints; call once, before any event is posted.
    ///
    /// Blocks on disk I/O. If the database cannot be read, logs an error and continues without endpoints.
    public func load() {
        do {
            let known = try outbox.now { (database) throws(StoreFault) in try database.endpoints() }
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
                metadata: ["reason": "\(error.reason)"]
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
            let quarantined = outbox.faultCounts.quarantined
            do throws(StoreFault) {
                try outbox.now { (database) throws(StoreFault) in try database.store.probe() }
                answer(
                    outbox.faultCounts.quarantined == quarantined
                        ? nil : "the database was lost or damaged, and was created again"
                )
            } catch {
                answer(error.reason)
            }
        }
    }

    /// Closes the database; a later event reopens it.
    public func close() async {
        await outbox.close()
    }

    /// The current status.
    public var status: WebhookStatus {
        let faultCounts = outbox.faultCounts
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
