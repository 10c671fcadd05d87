import Foundation
import Media
import Stage

/// A media playlist sent to a player by a CDN, according to its log.
struct LoggedRequest {
    /// The reason why a line is not counted.
    enum Fault: Error, Equatable {
        /// The line is no JSON object, or lacks the request or its status.
        case malformed
        /// The line reports another path, a segment or an error.
        case other
        /// The line has no viewer id.
        case nameless
    }

    let room: String
    let rendition: String?
    let isLowLatency: Bool
    let player: PlayerRequest
    /// Seconds since 1970; nil if the log has no time.
    let date: Double?
    /// A fingerprint of the line; nil without a time, because equal lines may then be different requests.
    let mark: UInt64?
    /// Whether the log reports media as well.
    var isMediaSeen = false

    /// - Parameter usesDeviceIDs: Whether persistent device ids are used.
    init(_ bytes: Data, usesDeviceIDs: Bool) throws(Fault) {
        guard let line = LogLine(bytes), let target = Self.target(of: line),
            let status = line[.status].flatMap({ Int($0) })
        else { throw .malformed }
        guard let request = MediaRequest(path: target), case .mediaPlaylist(let rendition) = request.target else {
            throw .other
        }
        // A cache answers 304 when it revalidates the player's copy.
        guard (200..<300).contains(status) || status == 304 else { throw .other }
        let query = QueryItems(target: target)
        var player = PlayerRequest(
            sid: query["sid"] ?? request.sid ?? line[.sid],
            userAgent: line[.userAgent].map { Self.decoded($0) },
            address: line[.client],
            isHead: line[.method] == "HEAD"
        )
        player.cmcd = query["CMCD"] ?? line[.cmcd].map { Self.withoutPrefix($0) }
        player.cmcdSession = line[.cmcdSession] ?? line.playbackName.map { "sid=\"\($0)\"" }
        player.cmcdStatus = line[.cmcdStatus]
        player.playbackSessionID = line[.playbackSession]
        player.purpose = line[.purpose]
        player.region = line[.country]
        player.isLogged = true
        if usesDeviceIDs { player.device = query["did"] }
        guard player.isNamed else { throw .nameless }
        room = request.room
        self.rendition = rendition
        self.player = player
        isLowLatency = query["_HLS_msn"] != nil || query["_HLS_skip"] != nil
        date = line.date
        var hasher = Hasher()
        bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        mark = date == nil ? nil : UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns path and query of a line.
    static func target(of line: LogLine) -> String? {
        if let address = line[.address] {
            guard let scheme = address.range(of: "://") else { return address }
            let rest = address[scheme.upperBound...]
            return rest.firstIndex(of: "/").map { String(rest[$0...]) }
        }
        guard let path = line[.path] else { return nil }
        // Some logs omit the first slash.
        let whole = path.hasPrefix("/") ? path : "/" + path
        return line[.query].map { "\(whole)?\($0)" } ?? whole
    }

    /// Decodes a user agent that a space-separated log wrote with escaped spaces.
    private static func decoded(_ name: String) -> String {
        guard !name.contains(" "), name.contains("%") else { return name }
        return name.replacing("+", with: " ").removingPercentEncoding ?? name
    }

    /// Removes the version prefix that Akamai adds, `//1.0@V/sid=…`.
    private static func withoutPrefix(_ cmcd: String) -> String {
        guard cmcd.hasPrefix("//"), let end = cmcd.dropFirst(2).firstIndex(of: "/") else { return cmcd }
        return String(cmcd[cmcd.index(after: end)...])
    }
}

extension PlayerRequest {
    /// Whether the request has a viewer id; without one, every request would be another viewer's.
    fileprivate var isNamed: Bool {
        if sid != nil || playbackSessionID != nil { return true }
        return [cmcd, cmcdSession].compactMap(\.self).contains { text in
            let items = (text.removingPercentEncoding ?? text).split(separator: ",")
            return items.contains { $0.drop { $0 == " " }.hasPrefix("sid=") }
        }
    }
}

/// A media file sent to a client by a CDN, according to its log.
struct LoggedMedia: Hashable {
    let room: String
    /// The session named in the path; nil if there is none.
    let sid: String?
    /// A `PeerAddress.account`.
    let client: UInt64
    /// Seconds since 1970; nil if the log has no time.
    let date: Double?

    /// Parses a line; nil if it is no media request or names no client.
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
