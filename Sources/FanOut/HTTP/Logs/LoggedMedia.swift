import Foundation
import Media

/// A media file that a server in front of us gave to a client, as its log tells it.
struct LoggedMedia: Hashable {
    let room: String
    /// The session that the path names; nil for one that names none.
    let sid: String?
    /// A `PeerAddress.account`.
    let client: UInt64
    /// Seconds since 1970; nil where the log does not say when it was.
    let date: Double?

    /// Nil for a line that tells of something else, or not of whom.
    init?(_ bytes: Data) {
        guard let line = LogLine(bytes), let target = LoggedRequest.target(of: line) else { return nil }
        guard let status = line[.status].flatMap({ Int($0) }), (200..<300).contains(status) || status == 304,
            line[.method].map({ $0 == "GET" }) ?? true
        else { return nil }
        guard let file = MediaRequest(path: target), case .file = file.target else { return nil }
        guard let client = line[.client].flatMap({ PeerAddress($0)?.account }) else { return nil }
        room = file.room
        sid = file.sid
        self.client = client
        date = line.date
    }
}
