import Synchronization

/// Media that clients were sent, for sessions that are still to be proven by it.
///
/// Segments name no session, and many players fetch them on other connections than their playlists. So each file that a
/// client is sent may prove one of its sessions: who sends for playlists alone proves none, and who wants to seem many has
/// to fetch as much as many do. A client is a `PeerAddress.account`. Called on any thread; holds `limit` clients at most.
final class MediaCredits: Sendable {
    private struct Key: Hashable {
        var client: UInt64
        var room: UInt32
    }

    private struct Credit {
        var files: UInt8
        var at: Int64
    }

    /// Files of one client in one room that wait for a session at a time.
    private static let most: UInt8 = 16
    /// Clients that are remembered at once; of further ones nothing is, until old entries are forgotten.
    static let limit = 200_000

    /// How long a file may prove a session, in milliseconds.
    private let lifetime: Int64
    private let credits = Mutex<[Key: Credit]>([:])

    init(lifetime: Int64) {
        self.lifetime = lifetime
    }

    /// A client was sent a media file of a room; milliseconds.
    func add(_ client: UInt64, room: String, at: Int64) {
        let key = Key(client: client, room: SessionID.stableHash(room))
        credits.withLock { credits in
            if let known = credits[key] {
                let files = isOld(known, at: at) ? 0 : known.files
                credits[key] = Credit(files: min(files + 1, Self.most), at: max(at, known.at))
                return
            }
            if credits.count >= Self.limit { credits = credits.filter { !isOld($0.value, at: at) } }
            guard credits.count < Self.limit else { return }
            credits[key] = Credit(files: 1, at: at)
        }
    }

    /// Proves one session of a client.
    ///
    /// - Returns: Whether the client was sent media that has proven nobody yet.
    func take(_ client: UInt64, room: String, at: Int64) -> Bool {
        let key = Key(client: client, room: SessionID.stableHash(room))
        return credits.withLock { credits in
            guard let known = credits[key], !isOld(known, at: at) else { return false }
            credits[key] = known.files > 1 ? Credit(files: known.files - 1, at: known.at) : nil
            return true
        }
    }

    private func isOld(_ credit: Credit, at: Int64) -> Bool { credit.at < at - lifetime }
}
