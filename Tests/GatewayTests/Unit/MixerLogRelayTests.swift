import FootlightTesting
import Foundation
import Glibc
import Logging
import MixerProcess
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite("Log messages of mixers", .timeLimit(.minutes(1)))
struct MixerLogRelayTests {
    private final class Texts: Sendable {
        let all = Mutex<[String]>([])
    }

    /// Relays lines as a mixer of the room "show" writes them, and returns the messages and the other text once there is
    /// a message that ends them.
    private func relay(
        _ lines: [String],
        until last: String
    ) async throws -> (messages: [LogCapture.Line], texts: [String]) {
        let (log, texts) = (LogCapture(level: .info), Texts())
        let relay = try MixerLogRelay(room: "show", logger: log.logger) { text in
            texts.all.withLock { $0.append(text) }
        }
        let mixer = dup(relay.mixerEnd)
        relay.started()
        for line in lines {
            let bytes = Array((line + "\n").utf8)
            let written = write(mixer, bytes, bytes.count)
            #expect(written == bytes.count)
        }
        close(mixer)
        #expect(try await eventually { log.lines.contains { $0.message == last } })
        return (log.lines, texts.all.withLock { $0 })
    }

    /// Returns a message as a mixer writes it.
    private func line(_ level: Logger.Level, _ message: Logger.Message, _ metadata: Logger.Metadata = [:]) -> String {
        let lines = Texts()
        let handler = JSONLogHandler(label: "footlight.audit") { line in lines.all.withLock { $0.append(line) } }
        var logger = Logger(label: "footlight.audit") { _ in handler }
        logger.logLevel = .trace
        logger.log(level: level, message, metadata: metadata)
        return lines.all.withLock { $0.joined() }.trimmingCharacters(in: .newlines)
    }

    @Test("messages keep level, text and metadata, but not the room that the mixer claims; other text stays as it is")
    func messages() async throws {
        let texts = ["*** Program crashed: Bad pointer dereference at 0x0 ***", #"{"level":"loud","message":"x"}"#]
        let (messages, others) = try await relay(
            [
                line(.warning, "unusable asset", ["asset": "logo", "room": "other", "list": ["a", "b"]]), texts[0],
                line(.debug, "not logged"), line(.error, "two\nlines"), texts[1], line(.critical, "the end"),
            ],
            until: "the end"
        )
        #expect(messages.map(\.message) == ["unusable asset", "two lines", "the end"])
        #expect(messages.map(\.level) == [.warning, .error, .critical])
        let list = "\(Logger.MetadataValue.array(["a", "b"]))"
        #expect(messages.first?.metadata == ["asset": "logo", "room": "show", "list": list])
        #expect(messages.allSatisfy { $0.metadata["room"] == "show" })
        #expect(others == texts)
    }

    @Test("a mixer that floods the log is cut off, and that is logged")
    func flood() async throws {
        let long = String(repeating: "x", count: MixerLogRelay.longestLine + 10)
        let lines = [long] + (0..<1000).map { line(.warning, "message \($0)") }
        let (messages, others) = try await relay(lines, until: "mixer wrote more than the log takes")
        // The long line was two.
        #expect(others.map(\.count) == [MixerLogRelay.longestLine, 10])
        #expect(messages.count == MixerLogRelay.linesPerMinute - 2 + 1)
        #expect(messages.last?.metadata == ["room": "show", "dropped_lines": "402"])
    }
}
