import NIOCore

/// The lines of a media playlist as they are written one after the other.
struct PlaylistLines {
    private(set) var text = ByteBuffer()
    private let prefix: String
    private let suffix: String
    /// The initialization that holds for the lines to come.
    private var initialization: String?

    init(query: String, prefix: String, capacity: Int) {
        self.prefix = prefix
        suffix = query.isEmpty ? "" : "?\(query)"
        text.reserveCapacity(capacity)
    }

    mutating func add(_ line: String) {
        text.writeString(line)
        text.writeStaticString("\n")
    }

    /// The address of a file, on a line of its own.
    mutating func add(file name: String) {
        text.writeString(prefix)
        text.writeString(name)
        add(suffix)
    }

    /// A tag that ends with the address of a file in quotes.
    mutating func add(_ tag: String, quotedFile name: String, then rest: String = "") {
        text.writeString(tag)
        text.writeStaticString("\"")
        text.writeString(prefix)
        text.writeString(name)
        text.writeString(suffix)
        text.writeStaticString("\"")
        add(rest)
    }

    /// What stands before a segment and its parts.
    ///
    /// - Parameter date: Seconds since 1970.
    mutating func beginSegment(isDiscontinuity: Bool, initialization: String, date: Double?) {
        if isDiscontinuity { add("#EXT-X-DISCONTINUITY") }
        if initialization != self.initialization {
            self.initialization = initialization
            add("#EXT-X-MAP:URI=", quotedFile: initialization)
        }
        if let date { add("#EXT-X-PROGRAM-DATE-TIME:\(ProgramDateTime.text(date))") }
    }

    mutating func add(_ part: Part) {
        add(
            "#EXT-X-PART:DURATION=\(Decimal.text(part.duration, digits: 5)),URI=",
            quotedFile: part.name,
            then: part.isIndependent ? ",INDEPENDENT=YES" : ""
        )
    }

    mutating func add(_ report: RenditionReport) {
        let position = "LAST-MSN=\(report.last.sequence),LAST-PART=\(report.last.index)"
        add("#EXT-X-RENDITION-REPORT:URI=\"\(report.uri)\",\(position)")
    }
}
