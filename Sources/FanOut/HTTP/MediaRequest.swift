import HTTPTypes

/// What a player asks the media side of the HTTP port for.
///
/// Behind the room the path may name the session, `/live/ROOM/~SID/…`, so that whatever a playlist of it lists does too.
enum MediaRequest: Equatable {
    /// `/live/ROOM.flv`
    case flv(room: String)
    /// `/live/ROOM/index.m3u8`: one small answer per viewer, which carries its session id.
    case multivariantPlaylist(room: String)
    /// `/live/ROOM/media.m3u8?sid=…`, or that of a rendition, `/live/ROOM/720p.m3u8?sid=…`
    case mediaPlaylist(room: String, rendition: String? = nil)
    /// `/live/ROOM/RUN/FILE`: initialization and media segments, the same for every viewer.
    case file(room: String, run: String, name: String)

    /// Reads a request path without its query; nil for paths that are not ours or that name no valid room.
    init?(path: some StringProtocol) {
        guard path.hasPrefix("/live/") else { return nil }
        var parts = path.dropFirst("/live/".count).split(separator: "/", omittingEmptySubsequences: false)
        if parts.count > 2, parts[1].hasPrefix("~") { parts.remove(at: 1) }
        switch parts.count {
        case 1 where parts[0].hasSuffix(".flv"):
            self = .flv(room: String(parts[0].dropLast(".flv".count)))
        case 2 where parts[1] == "index.m3u8":
            self = .multivariantPlaylist(room: String(parts[0]))
        case 2 where parts[1] == "media.m3u8":
            self = .mediaPlaylist(room: String(parts[0]))
        case 2 where parts[1].hasSuffix(".m3u8") && Self.isName(String(parts[1].dropLast(".m3u8".count))):
            self = .mediaPlaylist(room: String(parts[0]), rendition: String(parts[1].dropLast(".m3u8".count)))
        case 3:
            self = .file(room: String(parts[0]), run: String(parts[1]), name: String(parts[2]))
        default:
            return nil
        }
        guard Self.isName(room) else { return nil }
    }

    /// The session that a request path names, the query aside; nil for one that names none.
    static func session(in path: some StringProtocol) -> String? {
        guard path.hasPrefix("/live/") else { return nil }
        let parts = path.dropFirst("/live/".count).prefix { $0 != "?" }.split(separator: "/", maxSplits: 2)
        guard parts.count == 3, parts[1].hasPrefix("~") else { return nil }
        return String(parts[1].dropFirst())
    }

    /// What is asked for says who watches; what is asked for after it goes by the session id.
    var beginsSession: Bool {
        switch self {
        case .flv, .multivariantPlaylist: true
        case .mediaPlaylist, .file: false
        }
    }

    var room: String {
        switch self {
        case .flv(let room), .multivariantPlaylist(let room), .mediaPlaylist(let room, _), .file(let room, _, _): room
        }
    }

    // `[A-Za-z0-9_-]{1,64}`
    private static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
