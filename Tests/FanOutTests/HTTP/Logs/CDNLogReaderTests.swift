@testable import FanOut
import FootlightTesting
import Foundation
import Logging
import Media
import NIOCore
import Stage
import Synchronization
import TestSupport
import Testing

@Suite("CDN log reader")
struct CDNLogReaderTests {
    private let audience = RecordingAudience()
    private let clock = ManualClock()
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func logs() -> CDNLogReader {
        CDNLogReader(audience: audience, clock: clock, wall: { Date(timeIntervalSince1970: 1_700_000_000) }) {
            $0 != "over"
        }
    }

    private static func line(_ path: String, at seconds: Double = 0, status: Int = 200, more: String = "") -> String {
        #"{"uri":"\#(path)","status":\#(status),"time":\#(1_700_000_000 + seconds)\#(more)}"#
    }

    private func read(
        _ lines: [String],
        _ logs: CDNLogReader,
        room: String? = nil,
        isCompressed: Bool = false
    ) async throws -> LogReceipt {
        var body = ByteBuffer(string: lines.joined(separator: "\n"))
        if isCompressed { body = try #require(Gzip.compress(body)) }
        return try await logs.read(body, of: "cdn", room: room)
    }

    @Test("counts a playlist when its line is due; the receipt covers every line, and bad lines affect no others")
    func lines() async throws {
        let logs = logs()
        let receipt = try await read(
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
        // The ended room and the foreign session id are not recorded; the robot is recorded as uncounted.
        #expect(audience.eventLog == ["playlist r-1", "playlist r-2", "playlist no-r-1"])
        #expect(audience.events.map(\.playback) == [.hls, .llhls, .hls])
        #expect(audience.events.map(\.rendition) == [nil, "720p", nil])
        #expect(audience.events.allSatisfy { $0.at == MonotonicTime(nanoseconds: 1_000_000_000) && $0.isLogged })
        #expect(audience.requests.map(\.sid) == ["r-1", "r-2", "x-1", nil])
        clock.advance(by: .seconds(100))
        logs.advance()
        #expect(audience.events.count == 3)
    }

    @Test("accepts gzip files of several members, and restricts a log to one room")
    func compressed() async throws {
        let logs = logs()
        let lines = (0..<500).map { Self.line("/live/r/media.m3u8?sid=r-\($0)") }
        #expect(try await read(lines, logs, isCompressed: true).taken == 500)
        var members = try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/r/media.m3u8?sid=r-a") + "\n")))
        members.writeImmutableBuffer(
            try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/s/media.m3u8?sid=s-b"))))
        )
        let receipt = try await logs.read(members, of: "cdn", room: "s")
        #expect(receipt.taken == 1 && receipt.ignored == 1)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.eventLog.count == 501 && audience.eventLog.last == "playlist s-b")
    }

    @Test("a log full of segments takes no capacity from playlist requests, and neither takes more than its own")
    func crowdedByMedia() async throws {
        let logs = CDNLogReader(
            audience: audience,
            clock: clock,
            wall: { Date(timeIntervalSince1970: 1_700_000_000) },
            capacity: 10
        ) { _ in true }
        let segments = (0..<30).map { Self.line("/live/r/1x9/s\($0).m4s", more: #","ip":"192.0.2.\#($0)""#) }
        let playlists = (0..<12).map { Self.line("/live/r/media.m3u8?sid=r-\($0)") }
        let receipt = try await read(segments + playlists, logs)
        #expect(receipt.taken == 10 && receipt.dropped == 2)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.media.count == 10 && audience.events.count == 10)
    }

    @Test("a repeated batch changes nothing, and the maximum lateness is configurable")
    func repeated() async throws {
        let logs = CDNLogReader(
            audience: audience,
            clock: clock,
            wall: { Date(timeIntervalSince1970: 1_700_000_000) },
            lateness: 20
        ) { _ in true }
        let bundle = (0..<30).map { Self.line("/live/r/media.m3u8?sid=r-\($0)", at: -Double($0)) }
        let first = try await read(bundle, logs)
        #expect(first.taken == 21 && first.late == 9 && first.repeated == 0)
        let second = try await read(bundle, logs)
        #expect(second.taken == 0 && second.late == 9 && second.repeated == 21)
        #expect(logs.lag == 20_000 && logs.total.repeated == 21)
        clock.advance(by: .seconds(60))
        logs.advance()
        #expect(audience.events.count == 21)
    }

    @Test("accepted but uncounted lines are counted once by the next run when due; counted lines are not")
    func resumed() async throws {
        let folder = try TemporaryFolder("logs")
        let wall = Mutex(1_700_000_000.0)
        func run(of name: String) -> CDNLogReader {
            CDNLogReader(
                audience: audience,
                clock: clock,
                wall: { Date(timeIntervalSince1970: wall.withLock { $0 }) },
                spool: LogSpool(
                    folder: folder.file("logs"),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                )
            ) { _ in true }
        }
        func pass(_ seconds: Double, _ logs: CDNLogReader? = nil) {
            wall.withLock { $0 += seconds }
            clock.advance(by: .milliseconds(Int(seconds * 1000)))
            logs?.advance()
        }
        let first = run(of: "first")
        let bundle = [-10.0, -5, -1].map { Self.line("/live/r/media.m3u8?sid=r-\(Int(-$0))", at: $0) }
        #expect(try await read(bundle, first, isCompressed: true).taken == 3)
        #expect(try await read([Self.line("/live/r/1/s1.m4s")], first).taken == 0)
        pass(3, first)
        #expect(audience.eventLog == ["playlist r-10"])
        // Crashed; the next run starts two seconds later.
        pass(2)
        let second = run(of: "second")
        await second.resume(from: 1_699_999_993_000)?.value
        // The sender had not received the response.
        #expect(try await read(bundle, second).repeated == 3)
        #expect(second.lag == 10_000)
        pass(30, second)
        #expect(audience.eventLog == ["playlist r-10", "playlist r-5", "playlist r-1"])
        // The clock started at 1 s.
        #expect(audience.events.suffix(2).map(\.at.nanoseconds) == [-4_000_000_000, 0])
        #expect(second.total.taken == 0 && second.unspooled == 0)
        // Counted logs are deleted, with the addresses in them.
        let isEmpty = try await eventually {
            try FileManager.default.contentsOfDirectory(atPath: folder.file("logs")).isEmpty
        }
        #expect(isEmpty)
    }

    @Test("a log that cannot be spooled is counted, and so is the failure")
    func unspooled() async throws {
        let folder = try TemporaryFolder("logs")
        try Data().write(to: URL(fileURLWithPath: folder.file("logs")))
        let logs = CDNLogReader(
            audience: audience,
            clock: clock,
            wall: { Date(timeIntervalSince1970: 1_700_000_000) },
            spool: LogSpool(
                folder: folder.file("logs"),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
        ) { _ in true }
        #expect(try await read([Self.line("/live/r/media.m3u8?sid=r-1")], logs).taken == 1)
        #expect(logs.unspooled == 1)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.eventLog == ["playlist r-1"])
    }

    @Test("counts media after the playlist of its session, whatever the age of the oldest line")
    func mediaBehindPlaylists() async throws {
        let logs = logs()
        let media = Self.line("/live/r/~r-1/1/s1.m4s", at: -0.9, more: #","ip":"192.0.2.1""#)
        let playlists = [("r-9", -8.0), ("r-1", -1)].map { Self.line("/live/r/media.m3u8?sid=\($0.0)", at: $0.1) }
        _ = try await read(playlists + [media], logs)
        for _ in 0..<10 {
            clock.advance(by: .seconds(1))
            logs.advance()
        }
        #expect(audience.eventLog == ["playlist r-9", "playlist r-1", "delivered r-1"])
    }

    @Test("rejects a small file with too many lines before any line is parsed")
    func manyLines() async throws {
        let text = ByteBuffer(string: String(repeating: "{\"a\":1}\n", count: 1_400_000))
        let body = try #require(Gzip.compress(text))
        #expect(body.readableBytes < 40_000 && text.readableBytes > 11_000_000)
        // This reader has no CPU time for lines.
        let idle = CDNLogReader(audience: audience, clock: clock, workLimit: 0) { _ in true }
        await #expect(throws: CDNLogReader.Fault.tooManyLines) {
            try await idle.read(body, of: "cdn")
        }
        let logs = logs()
        // The maximum number of lines is parsed: lines other than playlists are cheap.
        let most = ByteBuffer(string: String(repeating: "{\"a\":1}\n", count: CDNLogReader.lineLimit))
        #expect(try await logs.read(most, of: "cdn").ignored == CDNLogReader.lineLimit)
        #expect(logs.total.ignored == CDNLogReader.lineLimit)
    }

    @Test("rejects a mostly malformed log after a thousand lines; some malformed lines are accepted")
    func malformed() async throws {
        let logs = logs()
        await #expect(throws: CDNLogReader.Fault.malformed) {
            try await read(Array(repeating: #"{"a":".m3u8"}"#, count: 100_000), logs)
        }
        #expect(logs.total == LogReceipt())
        let good = Array(repeating: Self.line("/live/r/1/s1.m4s"), count: 2000)
        #expect(try await read(good + Array(repeating: "GET /x 200", count: 1900), logs).malformed == 1900)
        // An endless line is one malformed line.
        #expect(try await read(good + [String(repeating: "[", count: 5_000_000)], logs).malformed == 1)
        let total = logs.total
        for lines in [Array(repeating: "x", count: 1000), ["{"], [String(repeating: "[", count: 5_000_000)]] {
            await #expect(throws: CDNLogReader.Fault.malformed) { try await read(lines, logs) }
        }
        #expect(logs.total == total)
        #expect(try await read(["", ""], logs) == LogReceipt())
    }

    @Test("rejects a log that exceeds its CPU time, and counts none of its lines")
    func work() async throws {
        let logs = CDNLogReader(audience: audience, clock: clock, workLimit: 10_000_000) { _ in true }
        let lines = (0..<20_000).map { Self.line("/live/r/media.m3u8?sid=r-\($0)") }
        await #expect(throws: CDNLogReader.Fault.tooMuchWork) { try await read(lines, logs) }
        #expect(logs.total == LogReceipt())
    }

    @Test("receives one log at a time per sender, from a limited number of senders")
    func senders() {
        let logs = logs()
        #expect(logs.beginReceiving(of: "a") && logs.beginReceiving(of: "b") && !logs.beginReceiving(of: "a"))
        logs.endReceiving(of: "a")
        #expect(logs.beginReceiving(of: "a"))
        for number in 0..<62 { #expect(logs.beginReceiving(of: "\(number)")) }
        #expect(!logs.beginReceiving(of: "more"))
    }

    @Test("rejects invalid and truncated gzip files, and those that expand too much")
    func refused() async throws {
        let logs = logs()
        let whole = try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/r/media.m3u8?sid=r-1"))))
        let part = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 4))
        for body in [ByteBuffer(bytes: [0x1F, 0x8B, 8]), part] {
            await #expect(throws: CDNLogReader.Fault.notGzip) {
                try await logs.read(body, of: "cdn")
            }
        }
        let bomb = try #require(Gzip.compress(ByteBuffer(repeating: 10, count: CDNLogReader.textLimit + 1)))
        #expect(bomb.readableBytes < 100_000)
        await #expect(throws: CDNLogReader.Fault.tooLarge) {
            try await logs.read(bomb, of: "cdn")
        }
        #expect(logs.total == LogReceipt())
        // No rejected log occupies a parser slot.
        for _ in 0..<8 { _ = try await read([], logs) }
    }
}
