@testable import FanOut
import FootlightTesting
import Foundation
import Logging
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("Logs of content networks")
struct AudienceLogsTests {
    private let audience = RecordingAudience()
    private let clock = ManualClock()
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func logs() -> AudienceLogs {
        AudienceLogs(audience: audience, clock: clock, wall: { Date(timeIntervalSince1970: 1_700_000_000) }) {
            $0 != "over"
        }
    }

    private static func line(_ path: String, at seconds: Double = 0, status: Int = 200, more: String = "") -> String {
        #"{"uri":"\#(path)","status":\#(status),"time":\#(1_700_000_000 + seconds)\#(more)}"#
    }

    private func take(
        _ lines: [String],
        _ logs: AudienceLogs,
        room: String? = nil,
        isCompressed: Bool = false
    ) async throws -> LogReceipt {
        var body = ByteBuffer(string: lines.joined(separator: "\n"))
        if isCompressed { body = try #require(Gzip.compress(body)) }
        return try await logs.take(body, of: "cdn", room: room)
    }

    @Test("A playlist counts for its player when it is due; a receipt tells of every line, bad ones lose nothing")
    func lines() async throws {
        let logs = logs()
        let receipt = try await take(
            [
                Self.line("/live/r/media.m3u8?sid=r-1"), "", "{", Self.line("/live/r/720p.m3u8?sid=r-2&_HLS_msn=3"),
                Self.line("/live/r/1/s1.m4s"), Self.line("/live/r/media.m3u8"), "no json .m3u8",
                Self.line("/live/r/media.m3u8?sid=r-3", at: -91), Self.line("/live/r/media.m3u8?sid=r-4", status: 500),
                Self.line("/live/over/media.m3u8?sid=over-1"), Self.line("/live/r/media.m3u8?sid=x-1"),
                Self.line("/live/r/media.m3u8", more: #","user_agent":"robot","cmcd":"sid=\"b\"""#) + "\r",
            ],
            logs
        )
        var expected = LogReceipt()
        expected.taken = 5
        expected.malformed = 2
        expected.ignored = 2
        expected.nameless = 1
        expected.late = 1
        #expect(receipt == expected && logs.total == expected)
        logs.advance()
        #expect(audience.events.isEmpty)
        clock.advance(by: .seconds(1))
        logs.advance()
        // The room that is over and the id of another room are not recorded; the robot is, as one that does not count.
        #expect(audience.story == ["playlist r-1", "playlist r-2", "playlist no-r-1"])
        #expect(audience.events.map(\.playback) == [.hls, .llhls, .hls])
        #expect(audience.events.map(\.rendition) == [nil, "720p", nil])
        #expect(audience.events.allSatisfy { $0.at == MonotonicTime(nanoseconds: 1_000_000_000) && $0.isLogged })
        #expect(audience.requests.map(\.sid) == ["r-1", "r-2", "x-1", nil])
        clock.advance(by: .seconds(100))
        logs.advance()
        #expect(audience.events.count == 3)
    }

    @Test("A log may be a gzip file, of several members, and may be bound to one room")
    func compressed() async throws {
        let logs = logs()
        let lines = (0..<500).map { Self.line("/live/r/media.m3u8?sid=r-\($0)") }
        #expect(try await take(lines, logs, isCompressed: true).taken == 500)
        var members = try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/r/media.m3u8?sid=r-a") + "\n")))
        members.writeImmutableBuffer(
            try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/s/media.m3u8?sid=s-b"))))
        )
        let receipt = try await logs.take(members, of: "cdn", room: "s")
        #expect(receipt.taken == 1 && receipt.ignored == 1)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.story.count == 501 && audience.story.last == "playlist s-b")
    }

    @Test("A bundle that is pushed again changes nothing, and how late a line may be is a setting")
    func repeated() async throws {
        let logs = AudienceLogs(
            audience: audience,
            clock: clock,
            wall: { Date(timeIntervalSince1970: 1_700_000_000) },
            lateness: 20
        ) { _ in true }
        let bundle = (0..<30).map { Self.line("/live/r/media.m3u8?sid=r-\($0)", at: -Double($0)) }
        let first = try await take(bundle, logs)
        #expect(first.taken == 21 && first.late == 9 && first.repeated == 0)
        let second = try await take(bundle, logs)
        #expect(second.taken == 0 && second.late == 9 && second.repeated == 21)
        #expect(logs.lag == 20_000 && logs.total.repeated == 21)
        clock.advance(by: .seconds(60))
        logs.advance()
        #expect(audience.events.count == 21)
    }

    @Test("What was taken and not counted is counted by the next run, once, when it was due; what was counted is not")
    func resumed() async throws {
        let folder = try TemporaryFolder("logs")
        let wall = Mutex(1_700_000_000.0)
        func run(of name: String) -> AudienceLogs {
            AudienceLogs(
                audience: audience,
                clock: clock,
                wall: { Date(timeIntervalSince1970: wall.withLock { $0 }) },
                spool: LogSpool(
                    folder: folder.file("logs"),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            ) { _ in true }
        }
        func pass(_ seconds: Double, _ logs: AudienceLogs? = nil) {
            wall.withLock { $0 += seconds }
            clock.advance(by: .milliseconds(Int(seconds * 1000)))
            logs?.advance()
        }
        let first = run(of: "first")
        let bundle = [-10.0, -5, -1].map { Self.line("/live/r/media.m3u8?sid=r-\(Int(-$0))", at: $0) }
        #expect(try await take(bundle, first, isCompressed: true).taken == 3)
        #expect(try await take([Self.line("/live/r/1/s1.m4s")], first).taken == 0)
        pass(3, first)
        #expect(audience.story == ["playlist r-10"])
        // Killed; the next one begins two seconds later.
        pass(2)
        let second = run(of: "second")
        await second.resume(from: 1_699_999_993_000)?.value
        // The sender did not hear that it was taken.
        #expect(try await take(bundle, second).repeated == 3)
        #expect(second.lag == 10_000)
        pass(30, second)
        #expect(audience.story == ["playlist r-10", "playlist r-5", "playlist r-1"])
        // The clock began at 1 s.
        #expect(audience.events.suffix(2).map(\.at.nanoseconds) == [-4_000_000_000, 0])
        #expect(second.total.taken == 0 && second.unspooled == 0)
        // What is counted is deleted, with the addresses that were in it.
        let isEmpty = try await eventually {
            try FileManager.default.contentsOfDirectory(atPath: folder.file("logs")).isEmpty
        }
        #expect(isEmpty)
    }

    @Test("A log that cannot be spooled counts all the same, and the failure is counted")
    func unspooled() async throws {
        let folder = try TemporaryFolder("logs")
        try Data().write(to: URL(fileURLWithPath: folder.file("logs")))
        let logs = AudienceLogs(
            audience: audience,
            clock: clock,
            wall: { Date(timeIntervalSince1970: 1_700_000_000) },
            spool: LogSpool(
                folder: folder.file("logs"),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        ) { _ in true }
        #expect(try await take([Self.line("/live/r/media.m3u8?sid=r-1")], logs).taken == 1)
        #expect(logs.unspooled == 1)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.story == ["playlist r-1"])
    }

    @Test("Media counts behind the playlist that it belongs to, however late the oldest line of either was")
    func mediaBehindPlaylists() async throws {
        let logs = logs()
        let media = Self.line("/live/r/~r-1/1/s1.m4s", at: -0.9, more: #","ip":"192.0.2.1""#)
        let playlists = [("r-9", -8.0), ("r-1", -1)].map { Self.line("/live/r/media.m3u8?sid=\($0.0)", at: $0.1) }
        _ = try await take(playlists + [media], logs)
        for _ in 0..<10 {
            clock.advance(by: .seconds(1))
            logs.advance()
        }
        #expect(audience.story == ["playlist r-9", "playlist r-1", "delivered r-1"])
    }

    @Test("A small file that is a great many lines is refused before one of them is read")
    func manyLines() async throws {
        let text = ByteBuffer(string: String(repeating: "{\"a\":1}\n", count: 1_400_000))
        let body = try #require(Gzip.compress(text))
        #expect(body.readableBytes < 40_000 && text.readableBytes > 11_000_000)
        // This one may not spend any time on lines.
        let idle = AudienceLogs(audience: audience, clock: clock, workLimit: 0) { _ in true }
        await #expect(throws: AudienceLogs.Fault.tooManyLines) {
            try await idle.take(body, of: "cdn")
        }
        let logs = logs()
        // As many as there may be are read: all other lines than those of playlists cost little.
        let most = ByteBuffer(string: String(repeating: "{\"a\":1}\n", count: AudienceLogs.lineLimit))
        #expect(try await logs.take(most, of: "cdn").ignored == AudienceLogs.lineLimit)
        #expect(logs.total.ignored == AudienceLogs.lineLimit)
    }

    @Test("What is mostly no log is refused after a thousand lines; a log may have some that are none")
    func malformed() async throws {
        let logs = logs()
        await #expect(throws: AudienceLogs.Fault.malformed) {
            try await take(Array(repeating: #"{"a":".m3u8"}"#, count: 100_000), logs)
        }
        #expect(logs.total == LogReceipt())
        let good = Array(repeating: Self.line("/live/r/1/s1.m4s"), count: 2000)
        #expect(try await take(good + Array(repeating: "GET /x 200", count: 1900), logs).malformed == 1900)
        // One line without end is one.
        #expect(try await take(good + [String(repeating: "[", count: 5_000_000)], logs).malformed == 1)
        let total = logs.total
        for lines in [Array(repeating: "x", count: 1000), ["{"], [String(repeating: "[", count: 5_000_000)]] {
            await #expect(throws: AudienceLogs.Fault.malformed) { try await take(lines, logs) }
        }
        #expect(logs.total == total)
        #expect(try await take(["", ""], logs) == LogReceipt())
    }

    @Test("A log that takes more than its time on the processor is refused, and no line of it counts")
    func work() async throws {
        let logs = AudienceLogs(audience: audience, clock: clock, workLimit: 10_000_000) { _ in true }
        let lines = (0..<20_000).map { Self.line("/live/r/media.m3u8?sid=r-\($0)") }
        await #expect(throws: AudienceLogs.Fault.tooMuchWork) { try await take(lines, logs) }
        #expect(logs.total == LogReceipt())
    }

    @Test("A sender's logs are received one at a time, and those of so many senders")
    func senders() {
        let logs = logs()
        #expect(logs.beginReceiving(of: "a") && logs.beginReceiving(of: "b") && !logs.beginReceiving(of: "a"))
        logs.endReceiving(of: "a")
        #expect(logs.beginReceiving(of: "a"))
        for number in 0..<62 { #expect(logs.beginReceiving(of: "\(number)")) }
        #expect(!logs.beginReceiving(of: "more"))
    }

    @Test("What is no gzip file, only a part of one, or too much when it is expanded is refused")
    func refused() async throws {
        let logs = logs()
        let whole = try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/r/media.m3u8?sid=r-1"))))
        let part = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 4))
        for body in [ByteBuffer(bytes: [0x1F, 0x8B, 8]), part] {
            await #expect(throws: AudienceLogs.Fault.notGzip) {
                try await logs.take(body, of: "cdn")
            }
        }
        let bomb = try #require(Gzip.compress(ByteBuffer(repeating: 10, count: AudienceLogs.textLimit + 1)))
        #expect(bomb.readableBytes < 100_000)
        await #expect(throws: AudienceLogs.Fault.tooLarge) {
            try await logs.take(bomb, of: "cdn")
        }
        #expect(logs.total == LogReceipt())
        // None of them is still held to be read.
        for _ in 0..<8 { _ = try await take([], logs) }
    }
}
