import Synchronization

/// Tracks media that was sent to clients, as proof that their sessions play.
///
/// Segment requests carry no session id, and many players use other connections for them than for playlists. So a file
/// is attributed to the session that its connection served before, or, on a new connection, to the session of the same
/// client that was served a playlist last and has had no file since, because a player fetches new segments at once. A
/// file without a known connection, as in a log, qualifies any one session of its client. So a client that requests
/// only playlists qualifies no session, even beside real players, and to appear as many viewers it has to fetch as much
/// media.
///
/// A client is a `PeerAddress.account`. Safe on any thread; holds at most `limit` clients. Times are milliseconds.
final class MediaDeliveryTracker: Sendable {
    private struct Key: Hashable {
        var client: UInt64
        var room: UInt32
    }

    /// The state of a session that requests playlists.
    enum Standing {
        /// The session has not qualified.
        case new
        /// The session counts, and its media connections are not known to be its own.
        case counting
        /// The session receives media on the connection of its playlists.
        case served
    }

    /// A session that was served a playlist.
    private struct PlaylistRequester {
        var code: UInt64
        var at: Int64
        var standing: Standing
        /// Files since that playlist.
        var files = 0
    }

    /// A connection without playlist requests.
    private struct Connection {
        var id: UInt64
        /// The session that its files are attributed to.
        var code: UInt64
        var files = 1
    }

    private struct Client {
        /// Files that may qualify any session, and the time of the latest.
        var files: UInt8 = 0
        var filesAt: Int64 = .min
        /// Sessions, ordered by their latest playlist.
        var requesters: [PlaylistRequester] = []
        /// Connections, ordered by their latest file.
        var connections: [Connection] = []
        /// Unqualified sessions that received media.
        var proven: [UInt64] = []
        var at: Int64

        /// The index in `requesters` of a session with a recent playlist.
        func requester(_ code: UInt64, at: Int64) -> Int? {
            requesters.lastIndex { $0.code == code && $0.at > at - MediaDeliveryTracker.requesterTimeout }
        }

        /// Selects the session of a file on a new connection.
        ///
        /// In this order: a counting session that waits for its file; an unqualified one with a playlist just now; the
        /// latest one during its startup burst; an unqualified one that waits.
        func next(at: Int64) -> Int? {
            let waiting = requesters.indices.filter {
                requesters[$0].files == 0 && requesters[$0].at > at - MediaDeliveryTracker.requesterTimeout
            }
            let counting = waiting.last { index in
                // A session that reuses a connection opens no other one.
                requesters[index].standing == .counting
                    && !connections.contains { $0.code == requesters[index].code && $0.files > 1 }
            }
            if let counting { return counting }
            let new = waiting.last { requesters[$0].standing == .new }
            if let new, requesters[new].at > at - MediaDeliveryTracker.moment { return new }
            if let latest = requesters.last, latest.standing != .counting,
                latest.at > at - MediaDeliveryTracker.startupWindow,
                latest.files < 3 || latest.standing == .served
            {
                return requesters.indices.last
            }
            return new ?? requesters.indices.last
        }
    }

    /// The maximum number of files of one client in one room that may qualify any session.
    private static let maximumFiles: UInt8 = 128
    /// The maximum number of sessions and connections per client and room.
    private static let maximumSessions = 1024
    /// How long after its last playlist a session keeps its media connections.
    private static let requesterTimeout: Int64 = 6000
    /// How long after a playlist a player requests the new segments.
    private static let moment: Int64 = 50
    /// How long after its first playlist a player requests its startup segments.
    private static let startupWindow: Int64 = 1500
    /// The maximum number of clients; further ones are ignored until old entries expire.
    static let limit = 200_000

    /// How long a file may qualify a session, in milliseconds.
    private let lifetime: Int64
    private let clients = Mutex<[Key: Client]>([:])

    init(lifetime: Int64) {
        self.lifetime = lifetime
    }

    /// Adds a file sent to a client on an unknown connection.
    func add(_ client: UInt64, room: String, at: Int64) {
        change(client, room, at) { addFile(to: &$0, at: at) }
    }

    /// Adds a file sent to a client on a connection without playlists, or with those of several sessions.
    func add(_ client: UInt64, room: String, over connection: UInt64, at: Int64) {
        change(client, room, at) { client in
            let index = client.connections.lastIndex { $0.id == connection }
            var known = index.map { client.connections.remove(at: $0) }
            known?.files += 1
            // The session served before, the next one by `next`, or the latest requester.
            let served = known.flatMap { client.requester($0.code, at: at) }
            guard let requester = served ?? client.next(at: at) else {
                addFile(to: &client, at: at)
                return
            }
            let code = client.requesters[requester].code
            client.requesters[requester].files += 1
            if client.connections.count >= Self.maximumSessions { client.connections.removeFirst() }
            if let known, known.code == code {
                client.connections.append(known)
            } else if client.requesters[requester].files == 1 {
                // More than one file at once may be for several sessions.
                client.connections.append(Connection(id: connection, code: code))
            }
            guard client.requesters[requester].standing == .new, !client.proven.contains(code) else { return }
            if client.proven.count >= Self.maximumSessions { client.proven.removeFirst() }
            client.proven.append(code)
        }
    }

    /// Records that a session was served a playlist.
    ///
    /// - Parameters:
    ///   - code: The authentication code of its id.
    func recordPlaylist(_ client: UInt64, room: String, code: UInt64, _ standing: Standing, at: Int64) {
        change(client, room, at) { client in
            client.requesters.removeAll { $0.code == code || isOld($0.at, at: at) }
            if client.requesters.count >= Self.maximumSessions { client.requesters.removeFirst() }
            client.requesters.append(PlaylistRequester(code: code, at: at, standing: standing))
        }
    }

    /// Consumes the proof that qualifies one session of a client.
    ///
    /// - Returns: Whether the session received media, or its client has an unattributed file.
    func consume(_ client: UInt64, room: String, code: UInt64, at: Int64) -> Bool {
        let key = Key(client: client, room: SessionID.stableHash(room))
        return clients.withLock { clients in
            guard var known = clients[key], !isOld(known.at, at: at) else { return false }
            if let index = known.proven.firstIndex(of: code) {
                known.proven.remove(at: index)
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
        client.files = isOld(client.filesAt, at: at) ? 1 : min(client.files + 1, Self.maximumFiles)
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
            // Removed from the dictionary while it changes, so that its arrays are changed in place.
            guard var known = clients.removeValue(forKey: key) else { return }
            known.at = max(at, known.at)
            body(&known)
            clients[key] = known
        }
    }

    private func isOld(_ moment: Int64, at: Int64) -> Bool { moment < at - lifetime }
}
