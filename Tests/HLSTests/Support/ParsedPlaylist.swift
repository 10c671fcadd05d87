import Foundation

/// A media playlist, parsed tag by tag.
struct ParsedPlaylist {
    struct Part: Equatable {
        var uri: String
        var duration: Double
        var isIndependent: Bool
    }

    struct Segment: Equatable {
        var uri = ""
        var duration = 0.0
        var parts: [Part] = []
        var isDiscontinuity = false
        var map: String?
        var date: String?
    }

    struct Damage: Error { let line: String }

    var version = 0
    var targetDuration = 0
    var partTarget = 0.0
    var control: [String: String] = [:]
    var mediaSequence = 0
    var discontinuitySequence = 0
    var skipped = 0
    var segments: [Segment] = []
    /// The open segment after the last complete one.
    var open = Segment()
    var hints: [String] = []
    var reports: [[String: String]] = []
    var isEnded = false

    init(_ text: String) throws {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.removeFirst() == "#EXTM3U", lines.popLast() == "" else { throw Damage(line: "first or last line") }
        var map: String?
        for line in lines {
            guard !line.isEmpty, hints.isEmpty || line.hasPrefix("#EXT-X-RENDITION-REPORT:") else {
                throw Damage(line: line)
            }
            guard line.hasPrefix("#") else {
                open.uri = line
                open.map = map
                segments.append(open)
                open = Segment()
                continue
            }
            let tag = String(line.prefix { $0 != ":" })
            let value = String(line.dropFirst(tag.count + 1))
            switch tag {
            case "#EXT-X-VERSION": version = try Self.integer(value)
            case "#EXT-X-TARGETDURATION": targetDuration = try Self.integer(value)
            case "#EXT-X-PART-INF": partTarget = try Self.decimal(Self.attributes(value)["PART-TARGET"])
            case "#EXT-X-SERVER-CONTROL": control = try Self.attributes(value)
            case "#EXT-X-MEDIA-SEQUENCE": mediaSequence = try Self.integer(value)
            case "#EXT-X-DISCONTINUITY-SEQUENCE": discontinuitySequence = try Self.integer(value)
            case "#EXT-X-INDEPENDENT-SEGMENTS": break
            case "#EXT-X-SKIP": skipped = try Self.integer(Self.attributes(value)["SKIPPED-SEGMENTS"] ?? "")
            case "#EXT-X-PRELOAD-HINT": hints.append(try Self.attributes(value)["URI"] ?? "")
            case "#EXT-X-RENDITION-REPORT": reports.append(try Self.attributes(value))
            case "#EXT-X-ENDLIST": isEnded = true
            case "#EXTINF": open.duration = try Self.decimal(String(value.dropLast()))
            case "#EXT-X-PART":
                let attributes = try Self.attributes(value)
                let part = Part(
                    uri: attributes["URI"] ?? "",
                    duration: try Self.decimal(attributes["DURATION"]),
                    isIndependent: attributes["INDEPENDENT"] == "YES"
                )
                open.parts.append(part)
            default:
                // These tags also apply to the first part, so they must precede it.
                guard open.parts.isEmpty else { throw Damage(line: line) }
                switch tag {
                case "#EXT-X-DISCONTINUITY": open.isDiscontinuity = true
                case "#EXT-X-PROGRAM-DATE-TIME": open.date = value
                case "#EXT-X-MAP": map = try Self.attributes(value)["URI"]
                default: throw Damage(line: line)
                }
            }
        }
        open.map = map
    }

    /// The listed parts, oldest first.
    var parts: [Part] { segments.flatMap(\.parts) + open.parts }

    /// The number of the open segment.
    var openSequence: Int { mediaSequence + skipped + segments.count }

    private static func integer(_ text: String) throws -> Int {
        guard let value = Int(text) else { throw Damage(line: text) }
        return value
    }

    private static func decimal(_ text: String?) throws -> Double {
        guard let text, let value = Double(text) else { throw Damage(line: text ?? "nothing") }
        return value
    }

    /// Parses an attribute list (RFC 8216 4.2); no quoted value contains a comma.
    private static func attributes(_ text: String) throws -> [String: String] {
        var result: [String: String] = [:]
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let equals = item.firstIndex(of: "=") else { throw Damage(line: text) }
            let value = item[item.index(after: equals)...]
            let isQuoted = value.hasPrefix("\"") && value.hasSuffix("\"")
            result[String(item[..<equals])] = isQuoted ? String(value.dropFirst().dropLast()) : String(value)
        }
        return result
    }
}
