@testable import FanOut
import FootlightTesting
import HLS
import Media
import NIOCore
import NIOPosix
import Stage
import Synchronization
import TestSupport
import Testing

@Suite("Low-latency playback over sockets", .enabled(if: TestRun.isFull), .serialized)
struct LowLatencyPlayerTests {
    /// A program in real time that records when each frame was sent.
    private final class PacedProgram: Sendable {
        let program: HLSProgram
        private let feed: Feed
        private let sent = Mutex<[Int64: MonotonicTime]>([:])

        init(_ fixture: HTTPFixture) {
            program = fixture.hls.open("r")
            feed = fixture.feeds.open("r")
            feed.attach(program)
        }

        /// Sends twelve seconds at once, then `seconds` more in real time.
        func run(seconds: Int) async throws {
            for packet in Packets.program(seconds: 12) { feed.receive(packet) }
            let start = MonotonicTime.now()
            for packet in Packets.program(from: 12_000, seconds: seconds) where !packet.isConfiguration {
                let due = start.advanced(milliseconds: packet.timestamp - 12_000)
                let wait = due.nanoseconds - MonotonicTime.now().nanoseconds
                if wait > 0 { try await Task.sleep(for: .nanoseconds(wait)) }
                if packet.isVideo { sent.withLock { $0[packet.timestamp] = .now() } }
                feed.receive(packet)
            }
        }

        /// Returns when the frame with a timestamp was sent.
        func sent(at milliseconds: Int64) -> MonotonicTime? { sent.withLock { $0[milliseconds] } }
    }

    private struct Reply {
        var status: Int
        var body: ByteBuffer
        var text: String { String(buffer: body) }
    }

    private func reply(_ client: RawClient) async throws -> Reply? {
        var found: Reply?
        _ = try await eventually(every: .milliseconds(2)) {
            guard let (header, body) = client.nextAnswer() else { return false }
            found = Reply(status: Int(header.dropFirst(9).prefix(3)) ?? 0, body: body)
            return true
        }
        return found
    }

    /// Returns the newest parts of a playlist and the time at which each ends, in milliseconds of the program.
    private func ends(_ playlist: String) -> [String: Int64] {
        var ends: [String: Int64] = [:]
        for match in playlist.matches(of: /#EXT-X-PART:DURATION=([\d.]+),URI="([^"]*\/s(\d+)\.p(\d+)\.m4s)"/) {
            // Segments last two seconds, parts 200 ms.
            let index = Int64(match.output.4) ?? 0
            let length = Int64(((Double(match.output.1) ?? 0) * 1000).rounded())
            ends[String(match.output.2)] = (Int64(match.output.3) ?? 0) * 2000 + index * 200 + length
        }
        return ends
    }

    @Test("a player with blocking reloads gets each part in time, and waiting players get it together")
    func player() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            let pacedProgram = PacedProgram(fixture)
            async let running: Void = pacedProgram.run(seconds: 4)
            let (reloads, parts) = (try await fixture.connect(), try await fixture.connect())
            #expect(try await eventually { pacedProgram.program.segmentCount >= 5 })
            try await reloads.ask("/live/r/media.m3u8?sid=r-1")
            var playlist = try #require(try await reply(reloads)).text
            var delays: [Int64] = []
            var got: [String: ByteBuffer] = [:]
            var crowd: [RawClient] = []
            for round in 0..<9 {
                let hint = try #require(playlist.firstMatch(of: /HINT:TYPE=PART,URI="(.*?s(\d+)\.p(\d+)\.m4s)"/)).output
                let reload = "/live/r/media.m3u8?sid=r-1&_HLS_msn=\(hint.2)&_HLS_part=\(hint.3)"
                try await parts.ask("/live/r/\(hint.1)")
                try await reloads.ask(reload)
                if round == 5 {
                    for index in 0..<200 {
                        let client = try await fixture.connect()
                        try await client.ask(reload.replacing("r-1", with: "r-\(index + 10)"))
                        crowd.append(client)
                    }
                }
                playlist = try #require(try await reply(reloads)).text
                let arrival = MonotonicTime.now()
                let end = try #require(ends(playlist)[String(hint.1)], "\(hint.1) is not listed")
                // A part is complete when the frame after it arrives.
                if let sent = pacedProgram.sent(at: end) { delays.append(arrival.milliseconds - sent.milliseconds) }
                let part = try #require(try await reply(parts))
                #expect(part.status == 200)
                got[String(hint.1)] = part.body
            }
            #expect(delays.count >= 8)
            #expect(try #require(delays.sorted().dropFirst(delays.count / 2).first) <= 60, "\(delays)")
            #expect(crowd.count == 200)
            for client in crowd {
                #expect(try await reply(client)?.text.hasPrefix("#EXTM3U") == true)
                try await client.close()
            }
            try await running
            // The parts together are the segments.
            var compared = 0
            for (path, body) in got {
                let name = path.split(separator: "/")[1].prefix { $0 != "." } + ".m4s"
                guard case .file(let segment) = pacedProgram.program.file(named: String(name)) else { continue }
                #expect(segment.contains(body))
                compared += 1
            }
            #expect(compared >= 6)
            let kinds = fixture.audience.events.filter { $0.sid == "r-1" }.map(\.playback)
            #expect(kinds.first == .hls && kinds.dropFirst().allSatisfy { $0 == .llhls })
        }
    }
}
