import Foundation
import Logging
import Synchronization
import Testing

@testable import MixerProcess

@Suite("JSON log messages")
struct JSONLogHandlerTests {
    private struct Line: Decodable {
        let time: String
        let level: String
        let logger: String
        let message: String
        let metadata: [String: String]?
    }

    /// Logs with a handler that keeps its lines.
    private func lines(_ body: (inout Logger) -> Void) -> [String] {
        let lines = Lines()
        var logger = Logger(label: "footlight.test") { label in
            JSONLogHandler(label: label) { lines.append($0) }
        }
        body(&logger)
        return lines.all
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }

        func append(_ line: String) {
            lines.withLock { $0.append(line) }
        }
    }

    @Test("each message is one line with its time, level, logger, text and metadata")
    func content() throws {
        let lines = lines { logger in
            logger[metadataKey: "room"] = "show"
            logger.warning("a \"quoted\"\nmessage", metadata: ["count": "3", "path": "/live/é"])
            logger.debug("not logged")
        }
        #expect(lines.count == 1 && lines[0].hasSuffix("\n") && lines[0].count(where: \.isNewline) == 1)
        let line = try JSONDecoder().decode(Line.self, from: Data(lines[0].utf8))
        #expect(line.level == "warning" && line.logger == "footlight.test")
        #expect(line.message == "a \"quoted\"\nmessage")
        #expect(line.metadata == ["room": "show", "count": "3", "path": "/live/é"])
        let time = try Date(line.time, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        #expect(abs(time.timeIntervalSinceNow) < 60)
    }

    @Test("lists and dictionaries of metadata stay such, and a message without metadata has none")
    func nested() throws {
        let lines = lines { logger in
            logger.info("nested", metadata: ["list": ["a", "b"], "map": ["key": "value"]])
            logger.info("plain")
        }
        #expect(lines[0].contains(#""list":["a","b"]"#) && lines[0].contains(#""map":{"key":"value"}"#))
        #expect(!lines[1].contains("metadata"))
    }
}
