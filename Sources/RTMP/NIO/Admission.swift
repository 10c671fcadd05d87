import Media
import Synchronization

/// Counts the connections of a server over all of its event loops, and turns away what is too much.
///
/// The lock is taken when a connection comes, goes, or changes between waiting and active; never for media.
final class Admission: Sendable {
    private struct State {
        var waiting: [UInt64: Int] = [:]
        var waitingTotal = 0
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

    private let state = Mutex(State())
    private let limits: RTMPLimits
    private let gate: ConnectionGate
    private let clock: any MonotonicClock
    /// Players that are viewers, by client.
    private let players: ClientLimiter
    private let refusals = Atomic<UInt64>(0)

    init(
        limits: RTMPLimits,
        gate: ConnectionGate = ConnectionGate(limit: .max, viewers: .max),
        clock: any MonotonicClock = SystemClock()
    ) {
        self.limits = limits
        self.gate = gate
        self.clock = clock
        players = ClientLimiter(limit: limits.playersPerClient)
    }

    /// Lets a connection in that has neither published nor played yet; nil when there are too many.
    ///
    /// Some of the places are for clients that published lately: strangers who keep all others must not keep a host out
    /// that comes back.
    func admit(address: String?) -> Ticket? {
        let client = client(at: address)
        let now = clock.now
        let isAdmitted = state.withLock { state in
            guard !state.isClosed, state.total < limits.connections, state.waitingTotal < limits.preAuthConnections
            else { return false }
            if let client, let most = limits.preAuthConnectionsPerClient {
                guard state.waiting[client, default: 0] < most else { return false }
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

    /// Takes no one in any more, and says who is there.
    func close() -> [RTMPConnection] {
        state.withLock { state in
            state.isClosed = true
            return Array(state.connections.values)
        }
    }

    /// Connections, and those of them that have neither published nor played yet.
    var counts: (all: Int, waiting: Int) { state.withLock { ($0.total, $0.waitingTotal) } }

    /// Connections that were closed because too many waited, and players of clients that have too many.
    var refused: (waiting: UInt64, players: UInt64) { (refusals.load(ordering: .relaxed), players.refused) }

    /// The client at an address; nil for one that has no limits: a proxy that the operator has named.
    private func client(at address: String?) -> UInt64? {
        guard let address, !limits.isProxy(address) else { return nil }
        return PeerAddress(address)?.account
    }

    /// One connection's place in the count; belongs to its event loop, and is given back at the latest when it is let
    /// go.
    final class Ticket {
        let address: String?
        private let client: UInt64?
        private let admission: Admission
        private var isWaiting = true
        private var hasLeft = false
        private var player: ClientPlace?
        private var connection: ObjectIdentifier?

        fileprivate init(admission: Admission, address: String?, client: UInt64?) {
            self.admission = admission
            self.address = address
            self.client = client
        }

        /// The connection stands, and can be told when the server goes down.
        func admitted(_ connection: RTMPConnection) {
            let id = ObjectIdentifier(connection)
            self.connection = id
            admission.state.withLock { $0.connections[id] = connection }
        }

        /// The peer publishes; what else its client may do is more from now on.
        func beganPublishing() {
            becameActive()
            guard let client else { return }
            let now = admission.clock.now
            admission.state.withLock { $0.publishers.add(client, now: now) }
        }

        /// The peer plays.
        ///
        /// - Parameter isViewer: Whether it takes a viewer's place; mixers and hosts that listen do not.
        /// - Returns: Whether there is room for it.
        func beganPlaying(isViewer: Bool) -> Bool {
            guard isViewer else {
                becameActive()
                return true
            }
            guard let place = admission.players.enter(client) else { return false }
            guard admission.gate.admitsViewer() else { return false }
            player = place
            becameActive()
            return true
        }

        private func becameActive() {
            guard isWaiting, !hasLeft else { return }
            isWaiting = false
            admission.state.withLock { $0.stopWaiting(client) }
        }

        /// The peer has ended its stream and may begin another.
        func becameIdle() {
            stopPlaying()
            guard !isWaiting, !hasLeft else { return }
            isWaiting = true
            admission.state.withLock { $0.startWaiting(client) }
        }

        private func stopPlaying() {
            guard let player else { return }
            player.leave()
            self.player = nil
            admission.gate.viewerLeft()
        }

        /// The connection is gone; its place is free.
        func left() {
            guard !hasLeft else { return }
            hasLeft = true
            stopPlaying()
            admission.state.withLock { state in
                state.total -= 1
                if isWaiting { state.stopWaiting(client) }
                if let connection { state.connections[connection] = nil }
            }
        }

        deinit {
            left()
        }
    }
}

/// Clients that have published within the last hour.
struct RecentPublishers {
    private static let age = 3_600.0
    private static let capacity = 1_024

    private var moments: [UInt64: MonotonicTime] = [:]

    /// Adds a client that publishes now; beyond the capacity, the one that did so longest ago is forgotten.
    mutating func add(_ client: UInt64, now: MonotonicTime) {
        moments[client] = now
        guard moments.count > Self.capacity else { return }
        if let oldest = moments.min(by: { $0.value < $1.value }) { moments[oldest.key] = nil }
    }

    /// Whether a client is one of them.
    func include(_ client: UInt64, now: MonotonicTime) -> Bool {
        moments[client].map { now.seconds(since: $0) < Self.age } ?? false
    }
}
