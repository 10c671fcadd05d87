import FootlightTesting
import Foundation

/// The events of a room as curl prints them.
final class EventLog {
    /// One event.
    struct Entry {
        let id: Int
        let name: String
        let data: JSONValue
    }

    private let curl: ChildProcess

    /// Opens the stream.
    ///
    /// - Parameters:
    ///   - query: Names a participant and its session for a stream that is the participant's own.
    ///   - token: The bearer's; the operator's when nil.
    init(of room: String, query: String = "", token: String? = nil, on gateway: GatewayProcess) throws {
        let url = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms/\(room)/events\(query)"
        let bearer = "Authorization: Bearer " + (try token ?? gateway.operatorToken)
        curl = try ChildProcess(["curl", "-sS", "-N", "-H", bearer, url])
    }

    /// Whether the stream is still open.
    var isOpen: Bool { curl.isRunning }

    /// Everything so far, heartbeats left out.
    var entries: [Entry] {
        curl.standardOutput.components(separatedBy: "\n\n").compactMap { block in
            var fields: [String: String] = [:]
            for line in block.split(separator: "\n") {
                guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else { continue }
                fields[String(line[..<colon])] = line[line.index(after: colon)...].drop { $0 == " " }.description
            }
            guard let name = fields["event"], name != "heartbeat", let text = fields["data"],
                let data = try? JSONValue(parsing: text)
            else { return nil }
            return Entry(id: fields["id"].flatMap { Int($0) } ?? -1, name: name, data: data)
        }
    }

    /// The names of the events behind the one with this id, in order.
    func names(after id: Int) -> [String] {
        entries.filter { $0.id > id }.map(\.name)
    }

    /// Waits for an event of this name behind `id`.
    func wait(for name: String, after id: Int = -1, within deadline: Duration = .seconds(20)) async throws -> Entry {
        var found: Entry?
        _ = try await eventually(within: deadline, every: .milliseconds(20)) {
            found = self.entries.first { $0.name == name && $0.id > id }
            return found != nil
        }
        guard let found else { throw ToolFailure("no \(name) within \(deadline)", log: curl.standardOutput) }
        return found
    }
}
