import Foundation

/// Reads a `text/event-stream` (WHATWG HTML, 9.2) as it comes in, in pieces of any size.
struct ServerSentEvents {
    struct Event: Equatable {
        var name = ""
        var data = ""
        var id = ""
    }

    /// A line longer than this is not one of ours.
    private static let longestLine = 4 << 20

    private var line: [UInt8] = []
    private var event = Event()

    /// Takes the next bytes and gives out the events that they complete.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if line.count < Self.longestLine { line.append(byte) }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if let complete = takeLine(String(decoding: line, as: UTF8.self)) { events.append(complete) }
            line.removeAll(keepingCapacity: true)
        }
        return events
    }

    private mutating func takeLine(_ line: String) -> Event? {
        guard !line.isEmpty else {
            defer { event = Event() }
            return event.data.isEmpty && event.name.isEmpty ? nil : event
        }
        guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else { return nil }
        var value = line[line.index(after: colon)...]
        if value.hasPrefix(" ") { value.removeFirst() }
        switch line[..<colon] {
        case "event": event.name = String(value)
        case "id": event.id = String(value)
        case "data": event.data += event.data.isEmpty ? String(value) : "\n" + value
        default: break
        }
        return nil
    }
}
