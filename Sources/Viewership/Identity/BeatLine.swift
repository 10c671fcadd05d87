import Media

/// What one line of an nginx access log tells of a viewer's playlist.
///
/// The line is `SID URI STATUS …` behind the header that syslog puts before it, as in
/// `<190>Nov 21 18:00:00 hls: SID /live/show/720p.m3u8 200 512 0.003 HIT`; `deploy/nginx` has the format.
public struct BeatLine: Sendable, Equatable {
    /// The session id in the address.
    public let sid: String
    /// The room's unique name.
    public let room: String
    /// Empty for the program as it is.
    public let rendition: String?
    /// A playlist was asked for, not a segment.
    public let isPlaylist: Bool
    /// Bytes of the answer.
    public let bytes: Int
    /// How long the request took, in milliseconds; nil where the line does not say.
    public let duration: Int?
    /// The request waited for a part of the playlist.
    public let isLowLatency: Bool

    /// Longest datagram that is read, in bytes.
    public static let limit = 2048
    /// Bytes of an answer beyond which a line is no line of a log: 1 TiB.
    private static let mostBytes = 1 << 40
    /// Seconds beyond which a request's duration is not believed.
    private static let longestRequest = 3600.0

    /// Reads a line; nil for one that does not tell of a playlist that was answered.
    public init?(_ text: String) {
        guard let line = AnsweredLine(text), line.who.utf8.count == SessionID.textLength else { return nil }
        guard line.path.count == 2, line.path[1].hasSuffix(".m3u8"), line.path[1] != "index.m3u8" else { return nil }
        sid = String(line.who)
        room = String(line.path[0])
        let name = line.path[1].dropLast(".m3u8".count)
        rendition = name == "media" ? "" : String(name)
        isPlaylist = true
        // A server that does not know it writes a dash.
        bytes = line.rest.first.map { Int($0) ?? 0 } ?? 0
        guard (0...Self.mostBytes).contains(bytes) else { return nil }
        let seconds = line.rest.count > 1 ? Double(line.rest[line.rest.startIndex + 1]) : nil
        duration = seconds.flatMap { (0...Self.longestRequest).contains($0) ? Int($0 * 1000) : nil }
        isLowLatency = line.rest.contains("ll")
    }
}

/// What one line of an nginx access log tells of media that a client was sent: `ADDRESS URI STATUS …`.
public struct MediaBeatLine: Sendable, Equatable {
    /// The room's unique name.
    public let room: String
    /// Who was sent it, a `PeerAddress.account`.
    public let client: UInt64

    /// Reads a line; nil for one that does not tell of media that was answered.
    public init?(_ text: String) {
        guard let line = AnsweredLine(text), line.path.count == 3 else { return nil }
        guard let client = PeerAddress(String(line.who))?.account else { return nil }
        room = String(line.path[0])
        self.client = client
    }
}

/// `WHO URI STATUS …` behind the header that syslog puts before it, of a request below `/live/` that was answered.
private struct AnsweredLine {
    let who: Substring
    /// Of the path, what stands behind `/live`; none is empty.
    let path: [Substring]
    /// Behind the status.
    let rest: ArraySlice<Substring>

    init?(_ text: String) {
        guard text.utf8.count <= BeatLine.limit else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard let place = words.firstIndex(where: { $0.hasPrefix("/live/") }), place > 0, words.count > place + 1 else {
            return nil
        }
        // A cache that confirms what the player has answers 304.
        guard let status = Int(words[place + 1]), (200..<300).contains(status) || status == 304 else { return nil }
        who = words[place - 1]
        path = words[place].dropFirst("/live/".count).split(separator: "/", omittingEmptySubsequences: false)
        guard !path.contains(where: \.isEmpty) else { return nil }
        rest = words[(place + 2)...]
    }
}
