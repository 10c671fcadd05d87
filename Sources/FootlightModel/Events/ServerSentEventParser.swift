/// An incremental parser of server-sent events (WHATWG HTML, "Server-sent events", 9.2.6).
///
/// Lines end with LF, CR or CRLF, a leading byte order mark is skipped, comments and events without data are ignored. A
/// line or an event over the limit makes the stream unusable.
package struct ServerSentEventParser: Sendable {
    /// Maximum size in bytes of a line, and of an event's data.
    package static let limit = 4 << 20

    /// The reconnection time in milliseconds; nil if the server did not send one.
    package private(set) var retry: Int?
    /// Whether the stream exceeded a limit; no further events are parsed.
    package private(set) var isOverLimit = false

    private var lastID = ""
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var line: [UInt8] = []
    private var endedWithCR = false
    /// The number of matched bytes of a possible byte order mark; nil once that is decided.
    private var mark: Int? = 0

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Creates a parser for the beginning of a stream.
    package init() {}

    /// Parses the next bytes.
    ///
    /// - Returns: The events that they complete.
    package mutating func parse(_ bytes: some Sequence<UInt8>) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for byte in bytes where !isOverLimit {
            if let position = mark {
                if byte == Self.byteOrderMark[position] {
                    mark = position + 1 < Self.byteOrderMark.count ? position + 1 : nil
                    continue
                }
                mark = nil
                for earlier in Self.byteOrderMark[..<position] { parse(earlier, into: &events) }
            }
            parse(byte, into: &events)
        }
        return events
    }

    private mutating func parse(_ byte: UInt8, into events: inout [ServerSentEvent]) {
        let followsCR = endedWithCR
        endedWithCR = false
        switch byte {
        case UInt8(ascii: "\n") where followsCR: break
        case UInt8(ascii: "\n"): endLine(into: &events)
        case UInt8(ascii: "\r"):
            endLine(into: &events)
            endedWithCR = true
        default:
            line.append(byte)
            isOverLimit = line.count > Self.limit
        }
    }

    private mutating func endLine(into events: inout [ServerSentEvent]) {
        defer { line.removeAll(keepingCapacity: true) }
        if line.isEmpty {
            if let event = endEvent() { events.append(event) }
            return
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        // A comment.
        if colon == line.startIndex { return }
        let field = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch field {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(UInt8(ascii: "\n")) }
            hasData = true
            data += value
            isOverLimit = data.count > Self.limit
        case "id" where !value.contains(0): lastID = String(decoding: value, as: UTF8.self)
        case "retry" where value.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }):
            retry = Int(String(decoding: value, as: UTF8.self)) ?? retry
        default: break
        }
    }

    private mutating func endEvent() -> ServerSentEvent? {
        defer {
            name = ""
            data.removeAll(keepingCapacity: true)
            hasData = false
        }
        guard hasData else { return nil }
        return ServerSentEvent(
            id: lastID,
            name: name.isEmpty ? "message" : name,
            data: String(decoding: data, as: UTF8.self)
        )
    }
}

/// A server-sent event with undecoded data.
package struct ServerSentEvent: Sendable, Equatable {
    /// The stream's last event id at the end of the event; empty without one.
    package var id: String
    /// The event's name; `message` by default.
    package var name: String
    /// The data lines, joined by line feeds.
    package var data: String

    /// Creates an event.
    package init(id: String, name: String, data: String) {
        self.id = id
        self.name = name
        self.data = data
    }
}
