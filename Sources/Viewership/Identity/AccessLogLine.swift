import Media

/// A line of an nginx access log about a playlist request of a viewer.
///
/// The line is `SID URI STATUS …` after the syslog header, as in
/// `<190>Nov 21 18:00:00 hls: SID /live/show/720p.m3u8 200 512 0.003 HIT`; `deploy/nginx` has the format.
public struct AccessLogLine: Sendable, Equatable {
    /// The session id of the request.
    public let sid: String
    /// The room's unique name.
    public let room: String
    /// The rendition; empty for the source.
    public let rendition: String?
    /// Whether the request was for a playlist rather than a segment.
    public let isPlaylist: Bool
    /// The size of the response in bytes.
    public let bytes: Int
    /// The duration of the request in milliseconds; nil when the line has none.
    public let duration: Int?
    /// Whether the request was a blocking reload (LL-HLS).
    public let isLowLatency: Bool

    /// The maximum length of a datagram, in bytes.
    public static let limit = 2048
    /// Lines with larger responses are rejected: 1 TiB.
    private static let maximumBytes = 1 << 40
    /// Longer request durations are ignored, in seconds.
    private static let maximumDuration = 3600.0

    /// Parses a line; nil unless it is about a playlist that was served.
    public init?(_ text: String) {
        guard let line = ParsedLogLine(text), line.subject.utf8.count == SessionID.textLength else { return nil }
        guard line.path.count == 2, line.path[1].hasSuffix(".m3u8"), line.path[1] != "index.m3u8" else { return nil }
        sid = String(line.subject)
        room = String(line.path[0])
        let name = line.path[1].dropLast(".m3u8".count)
        rendition = name == "media" ? "" : String(name)
        isPlaylist = true
        // A server without the byte count writes a dash.
        bytes = line.rest.first.map { Int($0) ?? 0 } ?? 0
        guard (0...Self.maximumBytes).contains(bytes) else { return nil }
        let seconds = line.rest.count > 1 ? Double(line.rest[line.rest.startIndex + 1]) : nil
        duration = seconds.flatMap { (0...Self.maximumDuration).contains($0) ? Int($0 * 1000) : nil }
        isLowLatency = line.rest.contains("ll")
    }
}

/// A line of an nginx access log about media that was sent to a client: `ADDRESS URI STATUS …`.
public struct MediaAccessLogLine: Sendable, Equatable {
    /// The room's unique name.
    public let room: String
    /// The client, a `PeerAddress.account`.
    public let client: UInt64

    /// Parses a line; nil unless it is about media that was served.
    public init?(_ text: String) {
        guard let line = ParsedLogLine(text), line.path.count == 3 else { return nil }
        guard let client = PeerAddress(String(line.subject))?.account else { return nil }
        room = String(line.path[0])
        self.client = client
    }
}

/// The common part `SUBJECT URI STATUS …` after the syslog header, of a successful request below `/live/`.
private struct ParsedLogLine {
    let subject: Substring
    /// The components of the path after `/live`; none is empty.
    let path: [Substring]
    /// The fields after the status.
    let rest: ArraySlice<Substring>

    init?(_ text: String) {
        guard text.utf8.count <= AccessLogLine.limit else { return nil }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
        guard let index = words.firstIndex(where: { $0.hasPrefix("/live/") }), index > 0, words.count > index + 1 else {
            return nil
        }
        // A revalidated response is 304.
        guard let status = Int(words[index + 1]), (200..<300).contains(status) || status == 304 else { return nil }
        subject = words[index - 1]
        path = words[index].dropFirst("/live/".count).split(separator: "/", omittingEmptySubsequences: false)
        guard !path.contains(where: \.isEmpty) else { return nil }
        rest = words[(index + 2)...]
    }
}
