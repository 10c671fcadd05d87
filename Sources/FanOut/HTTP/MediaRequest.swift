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
    init?(path: String) {
        // Bytes, for each of a crowd's requests is read here.
        let bytes = path.utf8
        guard bytes.starts(with: "/live/".utf8) else { return nil }
        let words = bytes.dropFirst("/live/".utf8.count).prefix { $0 != UInt8(ascii: "?") }
        var parts = words.split(separator: UInt8(ascii: "/"), maxSplits: 4, omittingEmptySubsequences: false)
        func text(_ part: Substring.UTF8View) -> String { String(Substring(part)) }
        let isSessionNamed = parts.count > 2 && parts[1].first == UInt8(ascii: "~")
        let sid = isSessionNamed ? text(parts.remove(at: 1).dropFirst()) : nil
        guard let first = parts.first, let last = parts.last else { return nil }
        switch parts.count {
        case 1:
            guard let room = first.without(suffix: ".flv") else { return nil }
            self.init(room: text(room), .flv)
        case 2 where last.elementsEqual("index.m3u8".utf8):
            self.init(room: text(first), sid: sid, .multivariantPlaylist)
        case 2 where last.elementsEqual("media.m3u8".utf8):
            self.init(room: text(first), sid: sid, .mediaPlaylist(rendition: nil))
        case 2:
            guard let rendition = last.without(suffix: ".m3u8").map(text), Self.isName(rendition) else { return nil }
            self.init(room: text(first), sid: sid, .mediaPlaylist(rendition: rendition))
        case 3:
            self.init(room: text(first), sid: sid, .file(run: text(parts[1]), name: text(last)))
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

extension Substring.UTF8View {
    /// What stands before `suffix`; nil where it does not end so.
    fileprivate func without(suffix: String) -> Substring.UTF8View? {
        let count = suffix.utf8.count
        return self.count >= count && self.suffix(count).elementsEqual(suffix.utf8) ? dropLast(count) : nil
    }
}
