/// What a player asks the media side of the HTTP port for.
///
/// Behind the room the path may name the session, `/live/ROOM/~SID/…`, so that whatever a playlist of it lists does too.
struct MediaRequest: Equatable {
    /// What of a room is asked for.
    enum Target: Equatable {
        /// `/live/ROOM.flv`
        case flv
        /// `/live/ROOM/index.m3u8`: one small answer per viewer, which carries its session id.
        case multivariantPlaylist
        /// `/live/ROOM/media.m3u8?sid=…`, or that of a rendition, `/live/ROOM/720p.m3u8?sid=…`
        case mediaPlaylist(rendition: String?)
        /// `/live/ROOM/RUN/FILE`: initialization and media segments, the same for every viewer.
        case file(run: String, name: String)
    }

    let room: String
    /// The session that the path names; nil for one that names none.
    let sid: String?
    let target: Target

    init(room: String, sid: String? = nil, _ target: Target) {
        self.room = room
        self.sid = sid
        self.target = target
    }

    /// Reads a request path, the query aside; nil for paths that are not ours or that name no valid room.
    init?(path: some StringProtocol) {
        guard path.hasPrefix("/live/") else { return nil }
        let words = path.dropFirst("/live/".count).prefix { $0 != "?" }
        var parts = words.split(separator: "/", omittingEmptySubsequences: false)
        let sid = parts.count > 2 && parts[1].hasPrefix("~") ? String(parts.remove(at: 1).dropFirst()) : nil
        switch parts.count {
        case 1 where parts[0].hasSuffix(".flv"):
            self.init(room: String(parts[0].dropLast(".flv".count)), .flv)
        case 2 where parts[1] == "index.m3u8":
            self.init(room: String(parts[0]), sid: sid, .multivariantPlaylist)
        case 2 where parts[1] == "media.m3u8":
            self.init(room: String(parts[0]), sid: sid, .mediaPlaylist(rendition: nil))
        case 2 where parts[1].hasSuffix(".m3u8") && Self.isName(String(parts[1].dropLast(".m3u8".count))):
            let rendition = String(parts[1].dropLast(".m3u8".count))
            self.init(room: String(parts[0]), sid: sid, .mediaPlaylist(rendition: rendition))
        case 3:
            self.init(room: String(parts[0]), sid: sid, .file(run: String(parts[1]), name: String(parts[2])))
        default:
            return nil
        }
        guard Self.isName(room) else { return nil }
    }

    /// What is asked for says who watches; what is asked for after it goes by the session id.
    var beginsSession: Bool {
        switch target {
        case .flv, .multivariantPlaylist: true
        case .mediaPlaylist, .file: false
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
