import NIOCore

/// Writes the lines of a media playlist.
struct PlaylistLines {
    private(set) var text = ByteBuffer()
    private let prefix: String
    private let suffix: String
    private let tag: FileTag?
    /// The initialization segment that applies to the following lines.
    private var initialization: String?

    init(query: String, prefix: String, tag: FileTag?, capacity: Int) {
        self.prefix = prefix
        self.tag = tag
        suffix = query.isEmpty ? "" : "?\(query)"
        text.reserveCapacity(capacity)
    }

    mutating func add(_ line: String) {
        text.writeString(line)
        text.writeStaticString("\n")
    }

    /// Writes a file's URI as a line.
    mutating func add(file name: String) {
        text.writeString(prefix)
        text.writeString(self.tag?.name(name) ?? name)
        add(suffix)
    }

    /// Writes a tag that ends with a file's URI in quotes.
    mutating func add(_ tag: String, quotedFile name: String, then rest: String = "") {
        text.writeString(tag)
        text.writeStaticString("\"")
        text.writeString(prefix)
        text.writeString(self.tag?.name(name) ?? name)
        text.writeString(suffix)
        text.writeStaticString("\"")
        add(rest)
    }

    /// Writes the tags that precede a segment and its parts.
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
            "#EXT-X-PART:DURATION=\(DecimalText.text(part.duration, digits: 5)),URI=",
            quotedFile: part.name,
            then: part.isIndependent ? ",INDEPENDENT=YES" : ""
        )
    }

    mutating func add(_ report: RenditionReport) {
        let position = "LAST-MSN=\(report.last.sequence),LAST-PART=\(report.last.index)"
        add("#EXT-X-RENDITION-REPORT:URI=\"\(report.uri)\",\(position)")
    }
}

/// Formats dates for EXT-X-PROGRAM-DATE-TIME (ISO 8601, UTC, milliseconds).
enum ProgramDateTime {
    /// - Parameter seconds: Seconds since 1970-01-01T00:00:00Z.
    static func text(_ seconds: Double) -> String {
        let bounded = seconds.isFinite ? min(max(seconds, 0), 253_402_300_799) : 0
        let milliseconds = Int64((bounded * 1000).rounded())
        let (days, rest) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
        let (year, month, day) = date(daysSince1970: days)
        let clock = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map { padded($0, 2) }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + clock.joined(separator: ":") + ".\(padded(rest % 1000, 3))Z"
    }

    /// Returns the Gregorian date; years are counted from March, so that the leap day is the last day.
    private static func date(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

/// Formats decimal fractions for playlists: no exponent, a point, and a fixed number of digits.
enum DecimalText {
    /// Formats `value` with `digits` decimals, rounded; negative and non-finite values become 0.
    static func text(_ value: Double, digits: Int) -> String {
        let scale = (0..<digits).reduce(Int64(1)) { scale, _ in scale * 10 }
        let bounded = value.isFinite ? min(max(value, 0), 1e9) : 0
        let (whole, rest) = Int64((bounded * Double(scale)).rounded()).quotientAndRemainder(dividingBy: scale)
        let fraction = String(rest)
        return "\(whole)." + String(repeating: "0", count: digits - fraction.utf8.count) + fraction
    }
}
