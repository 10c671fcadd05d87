import Synchronization

/// Counts the connections of a server over all of its event loops, and turns away what is too much.
///
/// The lock is taken when a connection comes, goes, or changes between waiting and active; never for media.
final class Admission: Sendable {
    private struct State {
        var waiting: [String: Int] = [:]
        var waitingTotal = 0
        var connections: [ObjectIdentifier: RTMPConnection] = [:]
        var total = 0
        var isClosed = false

        mutating func startWaiting(_ key: String) {
            waitingTotal += 1
            waiting[key, default: 0] += 1
        }

        mutating func stopWaiting(_ key: String) {
            waitingTotal -= 1
            let left = waiting[key, default: 1] - 1
            waiting[key] = left > 0 ? left : nil
        }
    }

    private let state = Mutex(State())
    private let limits: RTMPLimits

    init(limits: RTMPLimits) {
        self.limits = limits
    }

    /// Lets a connection in that has neither published nor played yet; nil when there are too many.
    func admit(address: String?) -> Ticket? {
        let key = address ?? ""
        // Strangers who keep all places for waiting must not keep a mixer of ours out.
        let isOurs = Self.isLoopback(key)
        let perAddress = isOurs ? limits.preAuthConnectionsPerLoopbackAddress : limits.preAuthConnectionsPerAddress
        let isAdmitted = state.withLock { state in
            guard !state.isClosed, state.total < limits.connections,
                isOurs || state.waitingTotal < limits.preAuthConnections,
                state.waiting[key, default: 0] < perAddress
            else { return false }
            state.total += 1
            state.startWaiting(key)
            return true
        }
        return isAdmitted ? Ticket(admission: self, address: address) : nil
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

    private static func isLoopback(_ address: String) -> Bool {
        address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
    }

    /// One connection's place in the count; belongs to its event loop, and is given back at the latest when it is let
    /// go.
    final class Ticket {
        let address: String?
        private let admission: Admission
        private var isWaiting = true
        private var hasLeft = false
        private var connection: ObjectIdentifier?

        fileprivate init(admission: Admission, address: String?) {
            self.admission = admission
            self.address = address
        }

        /// The connection stands, and can be told when the server goes down.
        func admitted(_ connection: RTMPConnection) {
            let id = ObjectIdentifier(connection)
            self.connection = id
            admission.state.withLock { $0.connections[id] = connection }
        }

        /// The peer publishes or plays.
        func becameActive() {
            guard isWaiting, !hasLeft else { return }
            isWaiting = false
            admission.state.withLock { $0.stopWaiting(address ?? "") }
        }

        /// The peer has ended its stream and may begin another.
        func becameIdle() {
            guard !isWaiting, !hasLeft else { return }
            isWaiting = true
            admission.state.withLock { $0.startWaiting(address ?? "") }
        }

        /// The connection is gone; its place is free.
        func left() {
            guard !hasLeft else { return }
            hasLeft = true
            admission.state.withLock { state in
                state.total -= 1
                if isWaiting { state.stopWaiting(address ?? "") }
                if let connection { state.connections[connection] = nil }
            }
        }

        deinit {
            left()
        }
    }
}
