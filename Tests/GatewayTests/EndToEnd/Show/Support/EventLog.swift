import FootlightTesting
import Foundation
import TestSupport

/// The events of a room, read with curl.
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
    ///   - query: The query with participant and session for a participant's own stream.
    ///   - token: The token; nil for the operator's.
    init(of room: String, query: String = "", token: String? = nil, on gateway: GatewayProcess) throws {
        let url = "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/rooms/\(room)/events\(query)"
        let bearer = "Authorization: Bearer " + (try token ?? gateway.operatorToken)
        curl = try ChildProcess(["curl", "-sS", "-N", "-H", bearer, url])
    }

    /// Whether the stream is still open.
    var isOpen: Bool { curl.isRunning }

    /// All events so far without heartbeats.
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

    /// Returns the names of the events after the one with this id.
    func names(after id: Int) -> [String] {
        entries.filter { $0.id > id }.map(\.name)
    }

    /// Waits for an event of this name after `id`.
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
