import Stage

/// A playback request: the parsed path of a request under `/live/`.
///
/// The preview of a room is requested like a room of the name `ROOM.preview`.
/// The path may name the session after the room, `/live/ROOM/~SID/…`; then relative URIs in its playlists do too.
struct MediaRequest: Equatable {
    /// The resource of a room.
    enum Target: Equatable {
        /// `/live/ROOM.flv`
        case flv
        /// `/live/ROOM/index.m3u8`: the multivariant playlist, one per viewer, with its session id.
        case multivariantPlaylist
        /// `/live/ROOM/media.m3u8?sid=…`, or a rendition's, `/live/ROOM/720p.m3u8?sid=…`
        case mediaPlaylist(rendition: String?)
        /// `/live/ROOM/RUN/FILE`: initialization segments, media segments and parts, the same for every viewer.
        case file(run: String, name: String)
    }

    let room: String
    /// The session named in the path; nil if there is none.
    let sid: String?
    let target: Target

    init(room: String, sid: String? = nil, _ target: Target) {
        self.room = room
        self.sid = sid
        self.target = target
    }

    /// Parses a request path, ignoring the query; nil for other paths and invalid room names.
    init?(path: String) {
        // Parses bytes without arrays, because every playback request passes here.
        let bytes = path.utf8
        guard bytes.starts(with: "/live/".utf8) else { return nil }
        var rest: Substring.UTF8View? = bytes.dropFirst("/live/".utf8.count).prefix { $0 != UInt8(ascii: "?") }
        func nextPart() -> Substring.UTF8View? {
            guard let remaining = rest else { return nil }
            guard let end = remaining.firstIndex(of: UInt8(ascii: "/")) else {
                rest = nil
                return remaining
            }
            rest = remaining[remaining.index(after: end)...]
            return remaining[..<end]
        }
        func text(_ part: Substring.UTF8View) -> String { String(Substring(part)) }
        guard let first = nextPart() else { return nil }
        var second = nextPart()
        var sid: String?
        if let part = second, part.first == UInt8(ascii: "~"), rest != nil {
            sid = text(part.dropFirst())
            second = nextPart()
        }
        let third = nextPart()
        guard rest == nil else { return nil }
        switch (second, third) {
        case (nil, _):
            guard let room = first.without(suffix: ".flv") else { return nil }
            self.init(room: text(room), .flv)
        case (let last?, nil) where last.elementsEqual("index.m3u8".utf8):
            self.init(room: text(first), sid: sid, .multivariantPlaylist)
        case (let last?, nil) where last.elementsEqual("media.m3u8".utf8):
            self.init(room: text(first), sid: sid, .mediaPlaylist(rendition: nil))
        case (let last?, nil):
            guard let rendition = last.without(suffix: ".m3u8").map(text), Self.isName(rendition) else { return nil }
            self.init(room: text(first), sid: sid, .mediaPlaylist(rendition: rendition))
        case (let run?, let name?):
            self.init(room: text(first), sid: sid, .file(run: text(run), name: text(name)))
        }
        guard Self.isName(PreviewFeedName(room)?.room ?? room) else { return nil }
    }

    /// Whether the request starts a session; later requests carry its id.
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
    /// Returns the part before `suffix`; nil if there is no such suffix.
    fileprivate func without(suffix: String) -> Substring.UTF8View? {
        let count = suffix.utf8.count
        return self.count >= count && self.suffix(count).elementsEqual(suffix.utf8) ? dropLast(count) : nil
    }
}

/// The query of a request target, parsed lazily without allocating for unused items.
struct QueryItems: Sendable {
    private let query: Substring.UTF8View

    /// - Parameter target: The request target: a path, and a query after `?`.
    init(target: String) {
        let start = target.utf8.firstIndex(of: UInt8(ascii: "?")).map { target.utf8.index(after: $0) }
        query = target[(start ?? target.endIndex)...].utf8
    }

    /// Returns the first value of a name, without percent-decoding; the values read here are URL-safe by construction.
    subscript(name: String) -> String? {
        var rest = query[...]
        while !rest.isEmpty {
            let end = rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
            let item = rest[..<end]
            rest = rest[end...].dropFirst()
            guard item.starts(with: name.utf8) else { continue }
            let value = item.dropFirst(name.utf8.count)
            if value.first == UInt8(ascii: "=") { return String(Substring(value.dropFirst())) }
        }
        return nil
    }
}
