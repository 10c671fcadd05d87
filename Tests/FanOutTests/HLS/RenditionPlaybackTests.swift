@testable import FanOut
import Foundation
import HLS
import HTTPTypes
import Media
import NIOCore
import NIOEmbedded
import Stage
import Synchronization
import TestSupport
import Testing

@Suite("Renditions", .enabled(if: TestRun.isFull))
struct RenditionPlaybackTests {
    private static let ladder = RenditionLadder(
        renditions: [Rendition(name: "360p", width: 640, height: 360, videoBitrate: 800)],
        hasAudioOnly: true
    )

    /// Creates a room with 12 seconds of program, a rendition that began two seconds later, and audio only.
    private func onAir() throws -> MediaServiceFixture {
        let fixture = try MediaServiceFixture()
        fixture.feeds.open("r", with: Self.ladder)
        let programs = fixture.hls.open("r", renditions: Self.ladder.names)
        for packet in Packets.program(seconds: 12) { programs.program.receive(packet) }
        let rendition = try #require(programs.rendition("360p"))
        for packet in Packets.program(from: 2_000, seconds: 10) { rendition.receive(packet) }
        let audio = try #require(programs.rendition("audio"))
        for packet in Packets.program(seconds: 12) where packet.isAudio { audio.receive(packet) }
        return fixture
    }

    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    @Test("the multivariant playlist describes every variant, all with one session id")
    func multivariant() throws {
        let fixture = try onAir()
        let text = try #require(try fixture.exchange("/live/r/index.m3u8")?.text)
        let lines = lines(text)
        #expect(lines.contains("#EXT-X-INDEPENDENT-SEGMENTS"))
        #expect(lines.filter { !$0.hasPrefix("#") } == ["media", "360p", "audio"].map { "\($0).m3u8?sid=r-1" })
        let streams = lines.filter { $0.hasPrefix("#EXT-X-STREAM-INF:") }
        #expect(streams.count == 3)
        for stream in streams.prefix(2) {
            #expect(stream.contains("CODECS=\"avc1.42C01E,mp4a.40.2\"") && stream.contains("RESOLUTION=638x358"))
            #expect(stream.contains("FRAME-RATE=") && stream.contains("AVERAGE-BANDWIDTH="))
        }
        #expect(streams[2].contains("CODECS=\"mp4a.40.2\"") && !streams[2].contains("RESOLUTION"))
        let bandwidth = try #require(streams[2].firstMatch(of: /BANDWIDTH=(\d+)/)).output.1
        #expect(try #require(Int(bandwidth)) > 0)
    }

    @Test("segments of one moment have the same number and date in all playlists")
    func alignment() throws {
        let fixture = try onAir()
        func segments(_ name: String) throws -> [String: String] {
            let text = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
            var dates: [String: String] = [:]
            var date = ""
            for line in lines(text) {
                if line.hasPrefix("#EXT-X-PROGRAM-DATE-TIME:") { date = line }
                if let file = line.firstMatch(of: /^[^#].*\/(s\d+\.m4s)/) { dates[String(file.output.1)] = date }
            }
            return dates
        }
        let (program, rendition) = (try segments("media"), try segments("360p"))
        let common = Set(program.keys).intersection(rendition.keys)
        #expect(common.count >= 3)
        #expect(rendition["s0.m4s"] == nil && rendition["s1.m4s"] != nil)
        for name in common { #expect(program[name] == rendition[name]) }
    }

    @Test("a player that switches renditions is one viewer, and all files are found")
    func oneViewer() throws {
        let fixture = try onAir()
        for name in ["media", "360p", "audio", "media"] {
            let text = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-7")?.text)
            let file = try #require(lines(text).first { !$0.hasPrefix("#") })
            #expect(try fixture.exchange("/live/r/\(file)")?.status == 200)
        }
        #expect(fixture.audience.eventLog == (0..<4).flatMap { _ in ["playlist r-7", "delivered r-7"] })
        #expect(Set(fixture.audience.events.map(\.room)) == ["r"])
        #expect(try fixture.exchange("/live/r/1080p.m3u8?sid=r-7")?.status == 404)
    }

    @Test("each playlist reports the others and not itself")
    func reports() throws {
        let fixture = try onAir()
        let names = ["media", "360p", "audio"]
        var newest: [String: String] = [:]
        var reports: [String: [String]] = [:]
        for name in names {
            let text = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
            let part = try #require(text.matches(of: /#EXT-X-PART:.*\/s(\d+)\.p(\d+)\.m4s/).last)
            newest[name] = "LAST-MSN=\(part.output.1),LAST-PART=\(part.output.2)"
            reports[name] = lines(text).filter { $0.hasPrefix("#EXT-X-RENDITION-REPORT:") }
            #expect(lines(text).suffix(2) == reports[name]?[...])
        }
        for name in names {
            let expected = try names.filter { $0 != name }.map { other in
                "#EXT-X-RENDITION-REPORT:URI=\"\(other).m3u8\",\(try #require(newest[other]))"
            }
            #expect(Set(reports[name] ?? []) == Set(expected))
        }
    }

    @Test("a rendition that starts after a mixer restart has the program's discontinuity sequence")
    func lateRendition() throws {
        let fixture = try MediaServiceFixture()
        fixture.feeds.open("r", with: Self.ladder)
        let programs = fixture.hls.open("r", renditions: Self.ladder.names)
        let rendition = try #require(programs.rendition("360p"))
        for packet in Packets.program(seconds: 6) { programs.program.receive(packet) }
        programs.program.publisherChanged()
        for packet in Packets.program(from: 7_000, seconds: 26) { programs.program.receive(packet) }
        for packet in Packets.program(from: 13_000, seconds: 20) { rendition.receive(packet) }
        for name in ["media", "360p"] {
            let text = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
            #expect(text.contains("#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
            #expect(!text.contains("#EXT-X-DISCONTINUITY\n"))
        }
    }

    @Test("waits one segment for the renditions before the multivariant playlist is offered")
    func playlistDelay() throws {
        let fixture = try MediaServiceFixture()
        fixture.feeds.open("r", with: Self.ladder)
        let programs = fixture.hls.open("r", renditions: Self.ladder.names)
        for packet in Packets.program(seconds: 3) { programs.program.receive(packet) }
        #expect(try fixture.exchange("/live/r/index.m3u8")?.status == 404)
        // A player that is told to retry is not counted.
        #expect(fixture.audience.requests.isEmpty)
        for packet in Packets.program(from: 3_000, seconds: 3) { programs.program.receive(packet) }
        let text = try #require(try fixture.exchange("/live/r/index.m3u8")?.text)
        #expect(lines(text).filter { !$0.hasPrefix("#") }.count == 1)
    }

    /// Returns the segment numbers in a playlist.
    private func numbers(_ playlist: String) -> [Int] {
        playlist.matches(of: /\/s(\d+)\.m4s/).compactMap { Int($0.output.1) }
    }

    @Test("a stalled rendition is neither offered nor found until its segments resume")
    func standstill() throws {
        let fixture = try MediaServiceFixture()
        fixture.feeds.open("r", with: Self.ladder)
        let programs = fixture.hls.open("r", renditions: Self.ladder.names)
        let rendition = try #require(programs.rendition("360p"))
        let audio = try #require(programs.rendition("audio"))
        func play(from start: Int64, seconds: Int, without: Bool = false) {
            for packet in Packets.program(from: start, seconds: seconds) {
                programs.program.receive(packet)
                // An encoder that resumes does not repeat its configuration.
                if !without, start == 0 || !packet.isConfiguration { rendition.receive(packet) }
                if packet.isAudio { audio.receive(packet) }
            }
        }
        func offered() throws -> [String] {
            let text = try #require(try fixture.exchange("/live/r/index.m3u8")?.text)
            return lines(text).filter { !$0.hasPrefix("#") }.map { String($0.prefix { $0 != "." }) }
        }
        func ask(_ name: String) throws -> (status: Int, text: String) {
            let answer = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1"))
            return (answer.status, answer.text)
        }
        play(from: 0, seconds: 12)
        #expect(try offered() == ["media", "360p", "audio"])
        play(from: 12_000, seconds: 3, without: true)
        #expect(try offered() == ["media", "360p", "audio"] && ask("360p").status == 200)
        play(from: 15_000, seconds: 15, without: true)
        #expect(try offered() == ["media", "audio"] && ask("360p").status == 404)
        #expect(try !ask("media").text.contains("RENDITION-REPORT:URI=\"360p.m3u8\""))
        // The rendition resumes with the program's segment numbers.
        play(from: 30_000, seconds: 10)
        #expect(try offered() == ["media", "360p", "audio"])
        let (program, back) = (numbers(try ask("media").text), numbers(try ask("360p").text))
        #expect(back == Array(program.suffix(back.count)) && back.first == 15)
        let names = try ask("360p").text.matches(of: /EXT-X-MAP:URI="([^"]+)"/).map { String($0.output.1) }
        for name in names { #expect(try fixture.exchange("/live/r/\(name)")?.status == 200) }
        #expect(try fixture.exchange("/live/r/\(rendition.run)/s15.m4s")?.status == 200)
    }

    @Test("keeps the renditions of a program whose mixer is away for long")
    func outage() throws {
        let fixture = try MediaServiceFixture()
        fixture.feeds.open("r", with: Self.ladder)
        let programs = fixture.hls.open("r", renditions: Self.ladder.names)
        let all = Self.ladder.names.compactMap { programs.rendition($0) } + [programs.program]
        for start: Int64 in [0, 60_000] {
            if start > 0 { for program in all { program.publisherChanged() } }
            for packet in Packets.program(from: start, seconds: 8) { for program in all { program.receive(packet) } }
        }
        let text = try #require(try fixture.exchange("/live/r/index.m3u8")?.text)
        #expect(lines(text).filter { !$0.hasPrefix("#") }.count == 3)
        for name in ["media", "360p", "audio"] {
            let playlist = try #require(try fixture.exchange("/live/r/\(name).m3u8?sid=r-1")?.text)
            // The previously listed segments are unchanged.
            #expect(numbers(playlist).first == 0 && playlist.contains("#EXT-X-DISCONTINUITY\n"))
        }
    }

    @Test("closes the players of a stalled rendition, and refuses new ones with \"stream not found\"")
    func players() throws {
        let fixture = try MediaServiceFixture()
        let (program, renditions) = fixture.feeds.open("r", with: Self.ladder)
        let feed = renditions[0].feed
        func play(_ times: ClosedRange<Int64>, on feeds: [Feed]) {
            for time in times { for feed in feeds { feed.receive(Packets.key(time * 1000)) } }
            fixture.loop.run()
        }
        let pushed = CountingSink()
        fixture.feeds.attach(pushed, room: "r_360p")
        play(0...2, on: [program, feed])
        let channel = try fixture.connect()
        try fixture.ask("/live/r_360p.flv", on: channel)
        fixture.loop.run()
        func still() -> [(name: RenditionFeedName, sinks: [any PacketSink])] {
            fixture.feeds.dismissViewersOfStalledRenditions().filter { $0.name.rendition == "360p" }
        }
        #expect(feed.activity.viewers == 1 && still().isEmpty)
        play(3...7, on: [program])
        #expect(fixture.feeds.playable("r_360p") != nil && still().isEmpty && feed.activity.viewers == 1)
        play(8...9, on: [program])
        let found = still()
        fixture.loop.run()
        #expect(found.map(\.name) == [RenditionFeedName(room: "r", rendition: "360p")])
        #expect(found.first?.sinks.first === pushed)
        #expect(feed.activity.viewers == 0 && !channel.isActive)
        #expect(fixture.audience.eventLog.last == "closed(shutdown) r-1")
        #expect(fixture.feeds.playable("r_360p") == nil && fixture.feeds.named("r_360p")?.feed === feed)
        #expect(try fixture.exchange("/live/r_360p.flv", method: .head)?.status == 404)
        // Sinks stay attached, and are detached by the room's name.
        play(10...10, on: [program, feed])
        #expect(pushed.count.withLock { $0 } == 4)
        #expect(fixture.feeds.playable("r_360p") != nil)
        #expect(still().isEmpty)
        fixture.feeds.detach(pushed, room: "r")
        play(11...18, on: [program])
        #expect(fixture.feeds.dismissViewersOfStalledRenditions().allSatisfy { $0.sinks.isEmpty })
    }

    /// Counts packets, as an output's sink would receive them.
    private final class CountingSink: PacketSink {
        let count = Mutex(0)

        func receive(_ packet: MediaPacket) { count.withLock { $0 += 1 } }
    }

    @Test("ROOM_360p is the room's rendition, unless a room of that name exists")
    func names() throws {
        let fixture = try MediaServiceFixture()
        let (program, renditions) = fixture.feeds.open("my_show", with: Self.ladder)
        #expect(renditions.map(\.name) == ["360p", "audio"])
        #expect(fixture.feeds.playable("my_show")?.feed === program)
        #expect(fixture.feeds.playable("my_show_360p")?.feed === renditions[0].feed)
        #expect(fixture.feeds.playable("my_show_360p")?.room == "my_show")
        #expect(fixture.feeds.playable("my_show_720p") == nil)
        let other = fixture.feeds.open("my_show_360p")
        #expect(fixture.feeds.playable("my_show_360p")?.feed === other)
        fixture.feeds.closeRenditions(of: "my_show", reason: .roomEnded)
        #expect(fixture.feeds.feed("my_show.rendition.audio") == nil)
        #expect(fixture.feeds.feed("my_show") != nil)
    }

    @Test("an output pushes its rendition, also if a room has the rendition's play name")
    func outputs() throws {
        let fixture = try MediaServiceFixture()
        let (program, renditions) = fixture.feeds.open("show", with: Self.ladder)
        let other = fixture.feeds.open("show_360p")
        var target = OutputTarget(name: "small", url: "rtmp://a.example/live", streamKey: "key")
        target.rendition = "360p"
        let pushed = CountingSink()
        fixture.feeds.attach(pushed, room: target.feed(of: "show"))
        for feed in [program, other] { feed.receive(Packets.key(0)) }
        fixture.loop.run()
        #expect(pushed.count.withLock { $0 } == 0)
        renditions[0].feed.receive(Packets.key(0))
        fixture.loop.run()
        #expect(pushed.count.withLock { $0 } == 1)
        fixture.feeds.detach(pushed, room: "show")
        renditions[0].feed.receive(Packets.key(2000))
        fixture.loop.run()
        #expect(pushed.count.withLock { $0 } == 1)
        target.rendition = nil
        #expect(fixture.feeds.named(target.feed(of: "show"))?.feed === program)
    }
}
