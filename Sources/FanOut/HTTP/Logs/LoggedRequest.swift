import Foundation
import Stage

/// A media playlist that a server in front of us gave to a player, as its log tells it.
struct LoggedRequest {
    /// Why a line tells of nothing that counts.
    enum Fault: Error, Equatable {
        /// It is no JSON object, or does not say what was asked for and how that was answered.
        case malformed
        /// It tells of something else: another path, a segment, an error.
        case other
        /// Nothing says whose request it was.
        case nameless
    }

    let room: String
    let rendition: String?
    let isLowLatency: Bool
    let player: PlayerRequest
    /// Seconds since 1970; nil where the log does not say when it was.
    let date: Double?
    /// Tells the line from all others; nil where it does not say when it was, for then several may be the same.
    let mark: UInt64?
    /// The log tells of media as well.
    var isMediaSeen = false

    /// - Parameter takesDevices: Whether ids that devices keep for themselves are used.
    init(_ bytes: Data, takesDevices: Bool) throws(Fault) {
        guard let line = LogLine(bytes), let target = Self.target(of: line),
            let status = line[.status].flatMap({ Int($0) })
        else { throw .malformed }
        guard let request = MediaRequest(path: target), case .mediaPlaylist(let rendition) = request.target else {
            throw .other
        }
        // A cache that confirms what the player has answers 304.
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
        if takesDevices { player.device = query["did"] }
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

    /// Path and query.
    static func target(of line: LogLine) -> String? {
        if let address = line[.address] {
            guard let scheme = address.range(of: "://") else { return address }
            let rest = address[scheme.upperBound...]
            return rest.firstIndex(of: "/").map { String(rest[$0...]) }
        }
        guard let path = line[.path] else { return nil }
        // Some leave out the first slash.
        let whole = path.hasPrefix("/") ? path : "/" + path
        return line[.query].map { "\(whole)?\($0)" } ?? whole
    }

    /// Logs that part their fields by spaces write a name without any.
    private static func decoded(_ name: String) -> String {
        guard !name.contains(" "), name.contains("%") else { return name }
        return name.replacing("+", with: " ").removingPercentEncoding ?? name
    }

    /// Akamai puts the version in front, `//1.0@V/sid=…`.
    private static func withoutPrefix(_ cmcd: String) -> String {
        guard cmcd.hasPrefix("//"), let end = cmcd.dropFirst(2).firstIndex(of: "/") else { return cmcd }
        return String(cmcd[cmcd.index(after: end)...])
    }
}

extension PlayerRequest {
    /// Something says whose request it is; without that each would be somebody else's.
    fileprivate var isNamed: Bool {
        if sid != nil || playbackSessionID != nil { return true }
        return [cmcd, cmcdSession].compactMap(\.self).contains { text in
            let items = (text.removingPercentEncoding ?? text).split(separator: ",")
            return items.contains { $0.drop { $0 == " " }.hasPrefix("sid=") }
        }
    }
}
