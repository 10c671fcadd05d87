import Stage
import Synchronization

/// Counts and limits the sessions of each client, over all shards.
///
/// A client is a `PeerAddress.account`. Sessions with a token, and those of addresses shared by many viewers, are not
/// counted. The lock is taken when a session begins, qualifies or ends, never for its requests.
final class ClientSessionLimiter: Sendable {
    /// The state in which a session is counted.
    enum Standing: UInt8 {
        case none
        case unproven
        case watching
    }

    private let unprovenLimit: Atomic<Int>
    private let watchingLimit: Atomic<Int>
    private let clients = Mutex<[UInt64: ClientSessions]>([:])
    private let refusals = Atomic<UInt64>(0)

    init(unproven: Int?, watching: Int?) {
        unprovenLimit = Atomic(unproven ?? .max)
        watchingLimit = Atomic(watching ?? .max)
    }

    /// Changes the limits for sessions that begin or qualify later; nil for no limit.
    func setLimits(unproven: Int?, watching: Int?) {
        unprovenLimit.store(unproven ?? .max, ordering: .relaxed)
        watchingLimit.store(watching ?? .max, ordering: .relaxed)
    }

    /// Sessions refused because their client had too many unqualified ones.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    func sessions(of client: UInt64) -> ClientSessions { clients.withLock { $0[client] } ?? ClientSessions() }

    /// Whether a client may begin another session; counts a refusal.
    func mayBegin(_ client: UInt64) -> Bool {
        let limit = unprovenLimit.load(ordering: .relaxed)
        guard limit < .max, sessions(of: client).unproven >= limit else { return true }
        refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Whether another session of a client may count as a viewer.
    func mayWatch(_ client: UInt64) -> Bool {
        let limit = watchingLimit.load(ordering: .relaxed)
        return limit == .max || sessions(of: client).watching < limit
    }

    /// Moves a session of a client to another state.
    func move(_ client: UInt64, from old: Standing, to new: Standing) {
        clients.withLock { clients in
            var sessions = clients[client] ?? ClientSessions()
            switch old {
            case .none: break
            case .unproven: sessions.unproven -= 1
            case .watching: sessions.watching -= 1
            }
            switch new {
            case .none: break
            case .unproven: sessions.unproven += 1
            case .watching: sessions.watching += 1
            }
            clients[client] = sessions == ClientSessions() ? nil : sessions
        }
    }
}

/// The client of each session of a shard, by table index.
struct SessionClients {
    private var clients: [UInt64] = []
    private var standings: [UInt8] = []
    private let ledger: ClientSessionLimiter

    init(_ ledger: ClientSessionLimiter) {
        self.ledger = ledger
    }

    /// The client of a session; nil when the session is not counted.
    func client(of index: Int) -> UInt64? {
        guard index < clients.count, clients[index] != 0 else { return nil }
        return clients[index]
    }

    /// Whether the session may count as a viewer of its client.
    func mayWatch(_ index: Int) -> Bool { client(of: index).map { ledger.mayWatch($0) } ?? true }

    /// Sets the client of a session, unless it has one.
    mutating func set(_ client: UInt64, at index: Int) {
        guard self.client(of: index) == nil else { return }
        while clients.count <= index {
            clients.append(0)
            standings.append(ClientSessionLimiter.Standing.none.rawValue)
        }
        clients[index] = client
    }

    /// Moves a session to another state, and removes its client when it is gone.
    mutating func move(_ index: Int, to standing: ClientSessionLimiter.Standing, isGone: Bool = false) {
        guard let client = client(of: index) else { return }
        let old = ClientSessionLimiter.Standing(rawValue: standings[index]) ?? .none
        if old != standing { ledger.move(client, from: old, to: standing) }
        standings[index] = standing.rawValue
        if isGone { clients[index] = 0 }
    }
}
