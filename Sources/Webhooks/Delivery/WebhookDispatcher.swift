import Foundation
public import Logging
public import NIOCore
import SQLiteStore
import Synchronization

/// Tells others what happens: keeps each event on disk and posts it to every endpoint that wants to know, until it is
/// taken.
///
/// `post` takes an event on any thread and costs a lock; whatever comes after, a full disk or an endpoint that hangs, is
/// no business of whoever posted. Events reach the outbox in the order in which they were posted, and each endpoint, by a
/// task and a connection of its own, in that same order. What was sent but not yet written down as taken when the process
/// died is sent again, with the same id.
public final class WebhookDispatcher: Sendable {
    struct State: Sendable {
        /// By id.
        var told: [String: ToldEndpoint] = [:]
        /// Events that are not on disk yet.
        var incoming: [WebhookEvent] = []
        /// Somebody is on the way to write what is incoming.
        var isWriting = false
        var writeFailures = 0
        var tries: [DeliveryOutcome.Kind: Int] = [:]
        var dropped = 0
        var whenDisabled: (@Sendable (WebhookEndpoint) -> Void)?
    }

    let configuration: WebhookConfiguration
    let logger: Logger
    let outbox: Outbox
    let poster: EndpointPoster
    let now: @Sendable () -> Double
    let state: Mutex<State>
    /// The ids of endpoints that nobody delivers to yet.
    let newcomers: AsyncStream<String>
    let newcomer: AsyncStream<String>.Continuation

    /// Makes a dispatcher; nothing is opened before `load()`.
    ///
    /// - Parameters:
    ///   - vet: Says which addresses may be connected to.
    ///   - group: Where connections live.
    /// - Throws: When the system's certificates cannot be read.
    public convenience init(
        _ configuration: WebhookConfiguration,
        vet: @escaping EndpointVetting,
        group: any EventLoopGroup,
        logger: Logger
    ) throws {
        // The wall clock, read once and carried on by one that never jumps: a wait is as long as it is meant to be.
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
        poster = try EndpointPoster(
            vet: vet,
            group: group,
            limit: configuration.deadline,
            allowsPlainHTTP: configuration.allowsPlainHTTP
        )
        let known = Known()
        outbox = Outbox(configuration, logger: logger) { known.endpoints() }
        state = Mutex(State())
        (newcomers, newcomer) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
        known.set { [weak self] in
            self?.state.withLock { $0.told.values.map(\.current) } ?? []
        }
    }

    /// The endpoints for a database that is begun anew; it comes to be before whom it asks.
    private final class Known: Sendable {
        private let ask = Mutex<(@Sendable () -> [WebhookEndpoint])?>(nil)

        func set(_ ask: @escaping @Sendable () -> [WebhookEndpoint]) {
            self.ask.withLock { $0 = ask }
        }

        func endpoints() -> [WebhookEndpoint] {
            ask.withLock { $0 }?() ?? []
        }
    }

    /// Reads the endpoints of an earlier life; to be called once, before anything is posted.
    ///
    /// Takes as long as the disk does. Endpoints of a database that cannot be read are lost, and the log says so.
    public func load() {
        do {
            let known = try outbox.now { (database) throws(StoreFault) in try database.endpoints() }
            state.withLock { state in
                for (endpoint, pending) in known {
                    state.told[endpoint.id] = ToldEndpoint(endpoint, schedule: configuration.schedule, pending: pending)
                }
            }
            for (endpoint, _) in known { newcomer.yield(endpoint.id) }
        } catch {
            logger.error("webhooks cannot be read; going on without", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Calls `body`, on any thread, when an endpoint is turned off because it fails or wants no more.
    public func whenDisabled(_ body: @escaping @Sendable (WebhookEndpoint) -> Void) {
        state.withLock { $0.whenDisabled = body }
    }

    /// Finds out, in turn on the outbox's thread, whether events can be kept at this moment.
    ///
    /// - Parameter answer: Called there with what is wrong, nil for nothing.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        outbox.later { [self] in
            // A database that had to be begun anew is no fault any more, but was one.
            let asides = outbox.troubles.asides
            do throws(StoreFault) {
                try outbox.now { (database) throws(StoreFault) in try database.store.probe() }
                answer(outbox.troubles.asides == asides ? nil : "the database was lost or damaged, and is begun anew")
            } catch {
                answer(error.reason)
            }
        }
    }

    /// Closes the database; what is posted afterwards opens it again.
    public func close() async {
        await outbox.close()
    }

    /// How it goes.
    public var status: WebhookStatus {
        let troubles = outbox.troubles
        return state.withLock { state in
            var status = WebhookStatus()
            for told in state.told.values {
                if !told.course.isEnabled {
                    status.disabled += 1
                } else if told.course.health.failures > 0 {
                    status.failing += 1
                } else {
                    status.healthy += 1
                }
                status.pending += told.pending
            }
            status.tries = state.tries
            status.dropped = state.dropped
            (status.storeFailures, status.asides) = troubles
            return status
        }
    }
}
