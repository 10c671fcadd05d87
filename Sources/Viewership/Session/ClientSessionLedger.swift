import Stage
import Synchronization

/// Counts the sessions of each client, over all shards, and says which are too many.
///
/// A client is a `PeerAddress.account`. Sessions of a token's bearer and those of servers that stand for many are not
/// counted. The lock is taken when a session comes, is proven to watch, or goes; never for a request of a known one.
final class ClientSessionLedger: Sendable {
    /// What a session counts as.
    enum Standing: UInt8 {
        case none
        case unproven
        case watching
    }

    private let unprovenLimit: Int?
    private let watchingLimit: Int?
    private let clients = Mutex<[UInt64: ClientSessions]>([:])
    private let refusals = Atomic<UInt64>(0)

    init(unproven: Int?, watching: Int?) {
        unprovenLimit = unproven
        watchingLimit = watching
    }

    /// Sessions that were refused because their client had too many that are not proven to watch.
    var refused: UInt64 { refusals.load(ordering: .relaxed) }

    func sessions(of client: UInt64) -> ClientSessions { clients.withLock { $0[client] } ?? ClientSessions() }

    /// Whether one more session of a client may begin.
    func mayBegin(_ client: UInt64) -> Bool {
        guard let unprovenLimit, sessions(of: client).unproven >= unprovenLimit else { return true }
        refusals.add(1, ordering: .relaxed)
        return false
    }

    /// Whether one more session of a client may count as a viewer.
    func mayWatch(_ client: UInt64) -> Bool {
        guard let watchingLimit else { return true }
        return sessions(of: client).watching < watchingLimit
    }

    /// A session of a client counts as something else from now on.
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

/// Whose each session of a shard is, by its place.
struct SessionClients {
    private var clients: [UInt64] = []
    private var standings: [UInt8] = []
    private let ledger: ClientSessionLedger

    init(_ ledger: ClientSessionLedger) {
        self.ledger = ledger
    }

    /// Whose the session is; nil for one that is counted with nobody's.
    func client(of place: Int) -> UInt64? {
        guard place < clients.count, clients[place] != 0 else { return nil }
        return clients[place]
    }

    /// Whether the session may count as a viewer of its client.
    func mayWatch(_ place: Int) -> Bool { client(of: place).map { ledger.mayWatch($0) } ?? true }

    /// Says whose a session is, unless that is known.
    mutating func set(_ client: UInt64, at place: Int) {
        guard self.client(of: place) == nil else { return }
        while clients.count <= place {
            clients.append(0)
            standings.append(ClientSessionLedger.Standing.none.rawValue)
        }
        clients[place] = client
    }

    /// The session counts as that from now on; one that is gone is nobody's.
    mutating func move(_ place: Int, to standing: ClientSessionLedger.Standing, isGone: Bool = false) {
        guard let client = client(of: place) else { return }
        let old = ClientSessionLedger.Standing(rawValue: standings[place]) ?? .none
        if old != standing { ledger.move(client, from: old, to: standing) }
        standings[place] = standing.rawValue
        if isGone { clients[place] = 0 }
    }
}
