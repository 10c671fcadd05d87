@testable import FanOut
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import Stage
import Testing

@Suite("HTTP-FLV over a real connection")
struct FLVStreamTests {
    private func tags(_ client: RawClient) -> [String] {
        client.answer.flatMap { FLVTag.read($0.body) }?.map(\.description) ?? []
    }

    @Test("A viewer gets an FLV stream that begins with the present group of pictures, and is told its session id")
    func watches() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            let feed = stand.feeds.open("r")
            for packet in [Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.picture(40)] {
                feed.receive(packet)
            }
            let client = try await stand.connect()
            try await client.ask("/live/r.flv")
            #expect(try await eventually { tags(client) == ["m0", "V0", "A0", "K0", "p40"] })
            feed.receive(Packets.sound(50))
            feed.receive(Packets.picture(80))
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
            #expect(stand.audience.story == ["opened r-1", "closed(left) r-1"])
            #expect(stand.audience.events.allSatisfy { $0.playback == .flv && $0.room == "r" })
        }
    }

    @Test("A stream of sound alone promises no pictures, for which a player would wait")
    func soundAlone() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            stand.feeds.open("r")
            let feed = stand.feeds.open("r.rendition.audio")
            for packet in [Packets.audio(), Packets.sound(0)] { feed.receive(packet) }
            let client = try await stand.connect()
            try await client.ask("/live/r_audio.flv")
            #expect(try await eventually { !tags(client).isEmpty })
            let (_, body) = try #require(client.answer)
            #expect(Array(body.readableBytesView.prefix(5)) == [0x46, 0x4C, 0x56, 1, 4])
            try await client.close()
        }
    }

    @Test("What is asked behind a stream on the same connection, in the same segment too, is never answered")
    func nothingBehind() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            let feed = stand.feeds.open("r")
            for packet in [Packets.video(), Packets.key(0)] { feed.receive(packet) }
            let client = try await stand.connect()
            let ask = "GET /live/r.flv HTTP/1.1\r\nHost: h\r\n\r\n"
            try await client.send(ask + ask + "GET /live/none/index.m3u8 HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(try await eventually { tags(client) == ["V0", "K0"] })
            feed.receive(Packets.picture(40))
            #expect(try await eventually { tags(client) == ["V0", "K0", "p40"] })
            #expect(feed.activity.viewers == 1)
            try await client.close()
            #expect(try await eventually { stand.audience.story.count == 2 })
        }
    }

    @Test("Answers to requests before it on the same connection come first")
    func afterKeepAlive() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            stand.feeds.open("r").receive(Packets.key(0))
            let client = try await stand.connect()
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
                    stand.audience.story == ["opened r-77", "closed(left) r-77"]
                }
            )
        }
    }

    @Test("When the room ends the connection ends, and the viewer is closed once")
    func roomEnds() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            stand.feeds.open("r").receive(Packets.key(0))
            let client = try await stand.connect()
            try await client.ask("/live/r.flv")
            #expect(try await eventually { tags(client).contains("K0") })
            stand.feeds.close("r", reason: .roomEnded)
            #expect(try await eventually { client.isClosed })
            #expect(stand.audience.story == ["opened r-1", "closed(roomEnded) r-1"])
        }
    }

    @Test("What a browser fetches ahead plays, and is nobody who watches")
    func ahead() async throws {
        try await withLoops { group in
            let stand = try await HTTPStand(group)
            stand.feeds.open("r").receive(Packets.key(0))
            let browser = try await stand.connect()
            try await browser.send("GET /live/r.flv HTTP/1.1\r\nHost: localhost\r\nSec-Purpose: prefetch\r\n\r\n")
            #expect(try await eventually { tags(browser) == ["K0"] })
            #expect(browser.answer?.header.contains("X-Footlight-Session: no-r-1") == true)
            try await browser.close()
            #expect(try await eventually { stand.feeds.load.viewers == 0 })
            #expect(stand.audience.story.isEmpty)
        }
    }

    /// A gateway with room for one viewer, who is there.
    private func fullHouse(_ group: MultiThreadedEventLoopGroup) async throws -> HTTPStand {
        let stand = try await HTTPStand(group, configuration: FanOutConfiguration(tick: .zero, maximumViewers: 1))
        stand.feeds.open("r").receive(Packets.key(0))
        let first = try await stand.connect()
        try await first.ask("/live/r.flv")
        #expect(try await eventually { tags(first) == ["K0"] })
        return stand
    }

    @Test("A gateway that is full refuses with 503 and counts nobody")
    func full() async throws {
        try await withLoops { group in
            let stand = try await fullHouse(group)
            let second = try await stand.connect()
            try await second.ask("/live/r.flv")
            #expect(
                try await eventually { second.answer?.header.hasPrefix("HTTP/1.1 503") == true }
            )
            #expect(stand.audience.story == ["opened r-1"])
        }
    }

    @Test("While there is no room, or memory is short, who shows its session id goes on; a foreign one is a newcomer")
    func returns() async throws {
        try await withLoops { group in
            let stand = try await fullHouse(group)
            stand.feeds.holdAdmission(true)
            let back = try await stand.connect()
            try await back.ask("/live/r.flv?sid=r-1")
            #expect(try await eventually { tags(back) == ["K0"] })
            // Of another room, never seen here, and one that has come back already.
            for (number, foreign) in ["other-1", "r-7", "r-1"].enumerated() {
                let stranger = try await stand.connect()
                try await stranger.ask("/live/r.flv?sid=\(foreign)")
                #expect(try await eventually { stranger.answer?.header.hasPrefix("HTTP/1.1 503") == true })
                #expect(stand.feeds.load.refused[.flv] == UInt64(number) + 1)
            }
            #expect(stand.audience.story == ["opened r-1", "opened r-1"])
        }
    }

    @Test("Connections that finish no header, or ask nothing, are closed; one that watches is not")
    func patience() async throws {
        try await withLoops { group in
            let limits = HTTPLimits(
                idle: .milliseconds(1600),
                header: .milliseconds(250),
                idleCheck: .milliseconds(50)
            )
            let stand = try await HTTPStand(group, limits: limits)
            stand.feeds.open("r").receive(Packets.key(0))
            let watching = try await stand.connect()
            try await watching.ask("/live/r.flv")
            let idle = try await stand.connect()
            try await idle.ask("/live/no.flv")
            let dripping = try await stand.connect()
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
            #expect(stand.audience.story == ["opened r-1"])
        }
    }

    @Test("A request whose body comes drop by drop is not waited for without end")
    func drippedBody() async throws {
        try await withLoops { group in
            let limits = HTTPLimits(body: .milliseconds(400), idleCheck: .milliseconds(50))
            let stand = try await HTTPStand(group, limits: limits)
            for path in ["/v1/rooms", "/live/r/index.m3u8"] {
                let dripping = try await stand.connect()
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
