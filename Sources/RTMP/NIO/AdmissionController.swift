import Media
import Synchronization

/// Counts a server's connections over all event loops and rejects those beyond the limits.
///
/// The lock is taken when a connection opens, closes, or changes between waiting and active; never for media.
final class AdmissionController: Sendable {
    private struct State {
        var waiting: [UInt64: Int] = [:]
        var waitingTotal = 0
        /// The most waiting connections of a client; nil for no limit.
        var waitingPerClient: Int?
        var publishers = RecentPublishers()
        var connections: [ObjectIdentifier: RTMPConnection] = [:]
        var total = 0
        var isClosed = false

        mutating func startWaiting(_ client: UInt64?) {
            waitingTotal += 1
            if let client { waiting[client, default: 0] += 1 }
        }

        mutating func stopWaiting(_ client: UInt64?) {
            waitingTotal -= 1
            guard let client else { return }
            let left = waiting[client, default: 1] - 1
            waiting[client] = left > 0 ? left : nil
        }
    }

    private let state: Mutex<State>
    private let limits: RTMPLimits
    private let gate: ConnectionGate
    private let clock: any MonotonicClock
    /// Limits viewers per client.
    private let players: ClientLimiter
    private let refusals = Atomic<UInt64>(0)

    init(
        limits: RTMPLimits,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        clock: any MonotonicClock = SystemClock()
    ) {
        state = Mutex(State(waitingPerClient: limits.preAuthConnectionsPerClient))
        self.limits = limits
        self.gate = gate
        self.clock = clock
        players = ClientLimiter(limit: limits.playersPerClient)
    }

    /// Changes the limits of a client: its players and its waiting connections; nil for none.
    func setClientLimits(players limit: Int?, waiting: Int?) {
        players.setLimit(limit)
        state.withLock { $0.waitingPerClient = waiting }
    }

    /// Admits a connection that has neither published nor played yet; nil if the limits are reached.
    ///
    /// A share of the slots is reserved for clients that published recently, so that unauthenticated connections cannot
    /// block a returning host.
    func admit(address: String?) -> Ticket? {
        let client = client(at: address)
        let now = clock.now
        let isAdmitted = state.withLock { state in
            guard !state.isClosed, state.total < limits.connections, state.waitingTotal < limits.preAuthConnections
            else { return false }
            if let client, let maximum = state.waitingPerClient {
                guard state.waiting[client, default: 0] < maximum else { return false }
            }
            let open = limits.preAuthConnections - limits.preAuthConnections / RTMPLimits.publishersShare
            guard state.waitingTotal < open || client.map({ state.publishers.include($0, now: now) }) ?? true else {
                return false
            }
            state.total += 1
            state.startWaiting(client)
            return true
        }
        guard isAdmitted else {
            refusals.add(1, ordering: .relaxed)
            return nil
        }
        return Ticket(admission: self, address: address, client: client)
    }

    /// Rejects all further connections and returns the open ones.
    func close() -> [RTMPConnection] {
        state.withLock { state in
            state.isClosed = true
            return Array(state.connections.values)
        }
    }

    /// The number of connections, and of those that have neither published nor played.
    var counts: (all: Int, waiting: Int) { state.withLock { ($0.total, $0.waitingTotal) } }

    /// The number of connections closed because of the waiting limit, and of players rejected by the client limit.
    var refused: (waiting: UInt64, players: UInt64) { (refusals.load(ordering: .relaxed), players.refused) }

    /// Returns the client at an address; nil for a configured proxy, which has no client limits.
    private func client(at address: String?) -> UInt64? {
        guard let address, !limits.isProxy(address) else { return nil }
        return PeerAddress(address)?.account
    }

    /// A connection's slot in the counts; used on its event loop and released by `deinit` at the latest.
    final class Ticket {
        let address: String?
        private let client: UInt64?
        private let admission: AdmissionController
        private var isWaiting = true
        private var isReleased = false
        private var player: ClientSlot?
        private var connection: ObjectIdentifier?

        fileprivate init(admission: AdmissionController, address: String?, client: UInt64?) {
            self.admission = admission
            self.address = address
            self.client = client
        }

        /// Registers the connection, so that `close` can return it.
        func admitted(_ connection: RTMPConnection) {
            let id = ObjectIdentifier(connection)
            self.connection = id
            admission.state.withLock { $0.connections[id] = connection }
        }

        /// Marks the connection as publishing and its client as a recent publisher.
        func beganPublishing() {
            becameActive()
            guard let client else { return }
            let now = admission.clock.now
            admission.state.withLock { $0.publishers.add(client, now: now) }
        }

        /// Marks the connection as playing.
        ///
        /// - Parameter isViewer: Whether the player occupies a viewer slot; mixers and listening hosts do not.
        /// - Returns: Whether a slot was available.
        func beganPlaying(isViewer: Bool) -> Bool {
            guard isViewer else {
                becameActive()
                return true
            }
            guard let slot = admission.players.enter(client) else { return false }
            guard admission.gate.admitsViewer() else { return false }
            player = slot
            becameActive()
            return true
        }

        private func becameActive() {
            guard isWaiting, !isReleased else { return }
            isWaiting = false
            admission.state.withLock { $0.stopWaiting(client) }
        }

        /// Marks the connection as waiting after its stream ended.
        func becameIdle() {
            stopPlaying()
            guard !isWaiting, !isReleased else { return }
            isWaiting = true
            admission.state.withLock { $0.startWaiting(client) }
        }

        private func stopPlaying() {
            guard let player else { return }
            player.leave()
            self.player = nil
            admission.gate.viewerLeft()
        }

        /// Releases the slot when the connection closes.
        func release() {
            guard !isReleased else { return }
            isReleased = true
            stopPlaying()
            admission.state.withLock { state in
                state.total -= 1
                if isWaiting { state.stopWaiting(client) }
                if let connection { state.connections[connection] = nil }
            }
        }

        deinit {
            release()
        }
    }
}

/// The clients that have published within the last hour.
struct RecentPublishers {
    private static let age = 3_600.0
    private static let capacity = 1_024

    private var moments: [UInt64: MonotonicTime] = [:]

    /// Adds a client; beyond the capacity, the client with the oldest entry is evicted.
    mutating func add(_ client: UInt64, now: MonotonicTime) {
        moments[client] = now
        guard moments.count > Self.capacity else { return }
        if let oldest = moments.min(by: { $0.value < $1.value }) { moments[oldest.key] = nil }
    }

    /// Returns whether a client published within the last hour.
    func include(_ client: UInt64, now: MonotonicTime) -> Bool {
        moments[client].map { now.seconds(since: $0) < Self.age } ?? false
    }
}
