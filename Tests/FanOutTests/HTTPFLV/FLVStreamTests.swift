@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import Stage
import TestSupport
import Testing

@Suite("HTTP-FLV over a real connection", .enabled(if: TestRun.isFull))
struct FLVStreamTests {
    private func tags(_ client: RawClient) -> [String] {
        client.answer.flatMap { FLVTag.read($0.body) }?.map(\.description) ?? []
    }

    @Test(
        "sends a viewer its session id, and a stream that starts with the current GOP, with direct writes and without",
        arguments: [true, false]
    )
    func watches(writesDirectly: Bool) async throws {
        try await withLoops { group in
            let configuration = FanOutConfiguration(tick: .zero, writesDirectly: writesDirectly)
            let fixture = try await HTTPFixture(group, configuration: configuration)
            let feed = fixture.feeds.open("r")
            for packet in [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.frame(40)] {
                feed.receive(packet)
            }
            let client = try await fixture.connect()
            try await client.ask("/live/r.flv")
            #expect(try await eventually { tags(client) == ["m0", "V0", "A0", "K0", "p40"] })
            feed.receive(Packets.audioFrame(50))
            feed.receive(Packets.frame(80))
            #expect(try await eventually { tags(client).suffix(2) == ["s50", "p80"] })
            let (header, body) = try #require(client.answer)
            #expect(header.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(header.contains("\r\nContent-Type: video/x-flv\r\n"))
            #expect(header.contains("\r\nX-Footlight-Session: r-1\r\n"))
            #expect(header.contains("\r\nAccess-Control-Allow-Origin: *\r\n"))
            #expect(Array(body.readableBytesView.prefix(13)) == [0x46, 0x4C, 0x56, 1, 5, 0, 0, 0, 9, 0, 0, 0, 0])
            #expect(feed.activity.viewers == 1)
            try await client.close()
            #expect(try await eventually { feed.activity.viewers == 0 })
            #expect(fixture.audience.eventLog == ["opened r-1", "closed(left) r-1"])
            #expect(fixture.audience.events.allSatisfy { $0.playback == .flv && $0.room == "r" })
        }
    }

    @Test("an audio-only stream announces no video, for which a player would wait")
    func audioOnly() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            fixture.feeds.open("r")
            let feed = fixture.feeds.open("r.rendition.audio")
            for packet in [Packets.audio(), Packets.audioFrame(0)] { feed.receive(packet) }
            let client = try await fixture.connect()
            try await client.ask("/live/r_audio.flv")
            #expect(try await eventually { !tags(client).isEmpty })
            let (_, body) = try #require(client.answer)
            #expect(Array(body.readableBytesView.prefix(5)) == [0x46, 0x4C, 0x56, 1, 4])
            try await client.close()
        }
    }

    @Test("requests pipelined behind a stream are never answered")
    func nothingBehind() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            let feed = fixture.feeds.open("r")
            for packet in [Packets.video(), Packets.key(0)] { feed.receive(packet) }
            let client = try await fixture.connect()
            let ask = "GET /live/r.flv HTTP/1.1\r\nHost: h\r\n\r\n"
            try await client.send(ask + ask + "GET /live/none/index.m3u8 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await eventually { tags(client) == ["V0", "K0"] })
            feed.receive(Packets.frame(40))
            #expect(try await eventually { tags(client) == ["V0", "K0", "p40"] })
            #expect(feed.activity.viewers == 1)
            try await client.close()
            #expect(try await eventually { fixture.audience.eventLog.count == 2 })
        }
    }

    @Test("responses to earlier requests on the connection come first")
    func afterKeepAlive() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            fixture.feeds.open("r").receive(Packets.key(0))
            let client = try await fixture.connect()
            try await client.send(
                "GET /live/no.flv HTTP/1.1\r\nHost: h\r\n\r\nGET /live/r.flv?sid=r-77 HTTP/1.1\r\nHost: h\r\n\r\n"
            )
            #expect(
                try await eventually {
                    String(buffer: client.received).contains("X-Footlight-Session: r-77\r\n")
                }
            )
            #expect(client.answer?.header.hasPrefix("HTTP/1.1 404") == true)
            try await client.close()
            #expect(
                try await eventually {
                    fixture.audience.eventLog == ["opened r-77", "closed(left) r-77"]
                }
            )
        }
    }

    @Test("closes the connection and the viewer once when the room ends")
    func roomEnds() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            fixture.feeds.open("r").receive(Packets.key(0))
            let client = try await fixture.connect()
            try await client.ask("/live/r.flv")
            #expect(try await eventually { tags(client).contains("K0") })
            fixture.feeds.close("r", reason: .roomEnded)
            #expect(try await eventually { client.isClosed })
            #expect(fixture.audience.eventLog == ["opened r-1", "closed(roomEnded) r-1"])
        }
    }

    @Test("a browser's prefetch plays and is not recorded")
    func ahead() async throws {
        try await withLoops { group in
            let fixture = try await HTTPFixture(group)
            fixture.feeds.open("r").receive(Packets.key(0))
            let browser = try await fixture.connect()
            try await browser.send("GET /live/r.flv HTTP/1.1\r\nHost: localhost\r\nSec-Purpose: prefetch\r\n\r\n")
            #expect(try await eventually { tags(browser) == ["K0"] })
            #expect(browser.answer?.header.contains("X-Footlight-Session: no-r-1") == true)
            try await browser.close()
            #expect(try await eventually { fixture.feeds.load.viewers == 0 })
            #expect(fixture.audience.eventLog.isEmpty)
        }
    }

    /// Creates a gateway with capacity for one viewer, and that viewer.
    private func fullHouse(_ group: MultiThreadedEventLoopGroup) async throws -> HTTPFixture {
        let fixture = try await HTTPFixture(group, configuration: FanOutConfiguration(tick: .zero, maximumViewers: 1))
        fixture.feeds.open("r").receive(Packets.key(0))
        let first = try await fixture.connect()
        try await first.ask("/live/r.flv")
        #expect(try await eventually { tags(first) == ["K0"] })
        return fixture
    }

    @Test("a full gateway refuses with 503 and counts no viewer")
    func full() async throws {
        try await withLoops { group in
            let fixture = try await fullHouse(group)
            let second = try await fixture.connect()
            try await second.ask("/live/r.flv")
            #expect(
                try await eventually { second.answer?.header.hasPrefix("HTTP/1.1 503") == true }
            )
            #expect(fixture.audience.eventLog == ["opened r-1"])
        }
    }

    @Test("a full gateway admits a returning session id, and treats a foreign one as a new viewer")
    func returns() async throws {
        try await withLoops { group in
            let fixture = try await fullHouse(group)
            fixture.feeds.setAdmissionSuspended(true)
            let back = try await fixture.connect()
            try await back.ask("/live/r.flv?sid=r-1")
            #expect(try await eventually { tags(back) == ["K0"] })
            // An id of another room, an unknown one, and one that is connected again already.
            for (number, foreign) in ["other-1", "r-7", "r-1"].enumerated() {
                let outsider = try await fixture.connect()
                try await outsider.ask("/live/r.flv?sid=\(foreign)")
                #expect(try await eventually { outsider.answer?.header.hasPrefix("HTTP/1.1 503") == true })
                #expect(fixture.feeds.load.refused[.flv] == UInt64(number) + 1)
            }
            #expect(fixture.audience.eventLog == ["opened r-1", "opened r-1"])
        }
    }

    @Test("closes connections without a complete header or a request, but not a viewer's")
    func timeouts() async throws {
        try await withLoops { group in
            let limits = HTTPLimits(
                idle: .milliseconds(1600),
                header: .milliseconds(250),
                idleCheck: .milliseconds(50)
            )
            let fixture = try await HTTPFixture(group, limits: limits)
            fixture.feeds.open("r").receive(Packets.key(0))
            let watching = try await fixture.connect()
            try await watching.ask("/live/r.flv")
            let idle = try await fixture.connect()
            try await idle.ask("/live/no.flv")
            let dripping = try await fixture.connect()
            let start = MonotonicTime.now()
            for byte in "GET /live/r.flv HTTP/1.1\r\nHost: some" where !dripping.isClosed {
                do { try await dripping.send(String(byte)) } catch { break }
                try await Task.sleep(for: .milliseconds(20))
            }
            #expect(try await eventually { dripping.isClosed })
            #expect(MonotonicTime.now().seconds(since: start) < 1.5)
            #expect(!idle.isClosed)
            #expect(try await eventually { idle.isClosed })
            #expect(MonotonicTime.now().seconds(since: start) > 1.4)
            #expect(!watching.isClosed)
            #expect(fixture.audience.eventLog == ["opened r-1"])
        }
    }

    @Test("closes a connection whose request body arrives too slowly")
    func drippedBody() async throws {
        try await withLoops { group in
            let limits = HTTPLimits(body: .milliseconds(400), idleCheck: .milliseconds(50))
            let fixture = try await HTTPFixture(group, limits: limits)
            for path in ["/v1/rooms", "/live/r/index.m3u8"] {
                let dripping = try await fixture.connect()
                let start = MonotonicTime.now()
                try await dripping.send("POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n")
                for _ in 0..<200 where !dripping.isClosed {
                    do { try await dripping.send("x") } catch { break }
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(try await eventually { dripping.isClosed })
                #expect((0.35..<4).contains(MonotonicTime.now().seconds(since: start)))
            }
        }
    }
}
