@testable import FanOut
import FootlightTesting
import Foundation
import Media
import NIOCore
import Stage
import Testing

@Suite("Logs of content networks")
struct AudienceLogsTests {
    private let audience = RecordingAudience()
    private let clock = ManualClock()

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
        return try await logs.take(body, isCompressed: isCompressed, of: "cdn", room: room)
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
        #expect(audience.events.allSatisfy { $0.at == MonotonicTime(nanoseconds: 1_000_000_000) })
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
        let receipt = try await logs.take(members, isCompressed: true, of: "cdn", room: "s")
        #expect(receipt.taken == 1 && receipt.ignored == 1)
        clock.advance(by: .seconds(1))
        logs.advance()
        #expect(audience.story.count == 501 && audience.story.last == "playlist s-b")
    }

    @Test("What is no gzip file, only a part of one, or too much when it is expanded is refused")
    func refused() async throws {
        let logs = logs()
        let whole = try #require(Gzip.compress(ByteBuffer(string: Self.line("/live/r/media.m3u8?sid=r-1"))))
        let part = try #require(whole.getSlice(at: 0, length: whole.readableBytes - 4))
        for body in [ByteBuffer(string: "{}"), ByteBuffer(), part] {
            await #expect(throws: AudienceLogs.Fault.notGzip) {
                try await logs.take(body, isCompressed: true, of: "cdn")
            }
        }
        let bomb = try #require(Gzip.compress(ByteBuffer(repeating: 10, count: AudienceLogs.textLimit + 1)))
        #expect(bomb.readableBytes < 100_000)
        await #expect(throws: AudienceLogs.Fault.tooLarge) {
            try await logs.take(bomb, isCompressed: true, of: "cdn")
        }
        #expect(logs.total == LogReceipt())
        // None of them is still held to be read.
        for _ in 0..<8 { _ = try await take([], logs) }
    }
}
