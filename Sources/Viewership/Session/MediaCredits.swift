import Synchronization

/// Media that clients were sent, for sessions that are still to be proven by it.
///
/// Segments name no session, and many players fetch them on other connections than their playlists. So a file belongs to
/// the session that its connection served before, or, on a new connection, to the one of the same client that was answered
/// a playlist last and has had no file since: a player fetches at once what a new playlist lists. A file of which nobody
/// knows the connection, as in a log, may prove any one session of its client. So who sends for playlists alone proves none,
/// also beside others who play, and who wants to seem many has to fetch as much as many do.
///
/// A client is a `PeerAddress.account`. Called on any thread; holds `limit` clients at most. Times are milliseconds.
final class MediaCredits: Sendable {
    private struct Key: Hashable {
        var client: UInt64
        var room: UInt32
    }

    /// How a session stands that asks for playlists.
    enum Standing {
        /// It is still to be proven.
        case new
        /// It counts, and is sent media by connections of which nobody knows whose they are.
        case counting
        /// It is sent media by the connection on which it asks.
        case served
    }

    /// A session that was answered a playlist.
    private struct Asker {
        var code: UInt64
        var at: Int64
        var standing: Standing
        /// What it was sent since.
        var files = 0
    }

    /// A connection that no playlist was asked for on.
    private struct Connection {
        var id: UInt64
        /// Whom its files are for.
        var code: UInt64
        var files = 1
    }

    private struct Client {
        /// Files that may prove any session, and when the latest of them was sent.
        var files: UInt8 = 0
        var filesAt: Int64 = .min
        /// Whoever was the last to be answered a playlist comes last.
        var askers: [Asker] = []
        /// The one that served last comes last.
        var connections: [Connection] = []
        /// New sessions that were sent media.
        var proven: [UInt64] = []
        var at: Int64

        /// Where in `askers` a session is, if it asked a short while ago.
        func asker(_ code: UInt64, at: Int64) -> Int? {
            askers.lastIndex { $0.code == code && $0.at > at - MediaCredits.patience }
        }

        /// Whose a file on a new connection is.
        ///
        /// First of those who count and wait for theirs, each of whom takes one for a playlist; then of a new one that has
        /// just asked; then of who asked last and fetches more, as players do to begin with; then of a new one that waits.
        func next(at: Int64) -> Int? {
            let waiting = askers.indices.filter { askers[$0].files == 0 && askers[$0].at > at - MediaCredits.patience }
            let counting = waiting.last { place in
                // Who is served by a connection that it keeps opens no other one.
                askers[place].standing == .counting
                    && !connections.contains { $0.code == askers[place].code && $0.files > 1 }
            }
            if let counting { return counting }
            let new = waiting.last { askers[$0].standing == .new }
            if let new, askers[new].at > at - MediaCredits.moment { return new }
            if let latest = askers.last, latest.standing != .counting, latest.at > at - MediaCredits.burst,
                latest.files < 3 || latest.standing == .served
            {
                return askers.indices.last
            }
            return new ?? askers.indices.last
        }
    }

    /// Files of one client in one room that may prove any session.
    private static let mostFiles: UInt8 = 128
    /// Sessions and connections of one client in one room that are remembered at a time.
    private static let most = 1024
    /// How long after its last playlist a session keeps the connections that served it.
    private static let patience: Int64 = 6000
    /// How long after its playlist a player fetches what is new in it.
    private static let moment: Int64 = 50
    /// How long after its playlist a player goes on to fetch what it begins with.
    private static let burst: Int64 = 1500
    /// Clients that are remembered at once; of further ones nothing is, until old entries are forgotten.
    static let limit = 200_000

    /// How long a file may prove a session, in milliseconds.
    private let lifetime: Int64
    private let clients = Mutex<[Key: Client]>([:])

    init(lifetime: Int64) {
        self.lifetime = lifetime
    }

    /// A client was sent a media file of a room, nobody knows by which connection.
    func add(_ client: UInt64, room: String, at: Int64) {
        change(client, room, at) { addFile(to: &$0, at: at) }
    }

    /// A client was sent a media file of a room by a connection that no playlist was asked for on, or those of several.
    func add(_ client: UInt64, room: String, over connection: UInt64, at: Int64) {
        change(client, room, at) { client in
            let place = client.connections.lastIndex { $0.id == connection }
            var known = place.map { client.connections.remove(at: $0) }
            known?.files += 1
            // Whoever it served before, or the next one; and else another file of who asked last.
            let served = known.flatMap { client.asker($0.code, at: at) }
            guard let asker = served ?? client.next(at: at) else {
                addFile(to: &client, at: at)
                return
            }
            let code = client.askers[asker].code
            client.askers[asker].files += 1
            if client.connections.count >= Self.most { client.connections.removeFirst() }
            if let known, known.code == code {
                client.connections.append(known)
            } else if client.askers[asker].files == 1 {
                // More than one at once may be somebody else's.
                client.connections.append(Connection(id: connection, code: code))
            }
            guard client.askers[asker].standing == .new, !client.proven.contains(code) else { return }
            if client.proven.count >= Self.most { client.proven.removeFirst() }
            client.proven.append(code)
        }
    }

    /// A session was answered a playlist.
    ///
    /// - Parameters:
    ///   - code: The proof in its id.
    func asked(_ client: UInt64, room: String, code: UInt64, _ standing: Standing, at: Int64) {
        change(client, room, at) { client in
            client.askers.removeAll { $0.code == code || isOld($0.at, at: at) }
            if client.askers.count >= Self.most { client.askers.removeFirst() }
            client.askers.append(Asker(code: code, at: at, standing: standing))
        }
    }

    /// Proves one session of a client.
    ///
    /// - Returns: Whether it was sent media, or its client some that is nobody's yet.
    func take(_ client: UInt64, room: String, code: UInt64, at: Int64) -> Bool {
        let key = Key(client: client, room: SessionID.stableHash(room))
        return clients.withLock { clients in
            guard var known = clients[key], !isOld(known.at, at: at) else { return false }
            if let place = known.proven.firstIndex(of: code) {
                known.proven.remove(at: place)
            } else if known.files > 0, !isOld(known.filesAt, at: at) {
                known.files -= 1
            } else {
                return false
            }
            clients[key] = known
            return true
        }
    }

    private func addFile(to client: inout Client, at: Int64) {
        client.files = isOld(client.filesAt, at: at) ? 1 : min(client.files + 1, Self.mostFiles)
        client.filesAt = max(client.filesAt, at)
    }

    private func change(_ client: UInt64, _ room: String, _ at: Int64, _ body: (inout Client) -> Void) {
        let key = Key(client: client, room: SessionID.stableHash(room))
        clients.withLock { clients in
            if clients[key].map({ isOld($0.at, at: at) }) ?? true {
                if clients.count >= Self.limit {
                    let fresh = clients.filter { !isOld($0.value.at, at: at) }
                    clients = fresh
                }
                guard clients.count < Self.limit || clients[key] != nil else { return }
                clients[key] = Client(at: at)
            }
            // Out of the dictionary while it changes, so that its lists are changed in place.
            guard var known = clients.removeValue(forKey: key) else { return }
            known.at = max(at, known.at)
            body(&known)
            clients[key] = known
        }
    }

    private func isOld(_ moment: Int64, at: Int64) -> Bool { moment < at - lifetime }
}
