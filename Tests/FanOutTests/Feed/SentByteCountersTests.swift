@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("Sent bytes by protocol")
struct SentByteCountersTests {
    @Test("count media over RTMP and HTTP-FLV exactly, including ended feeds")
    func streams() {
        let fixture = FeedPartitionFixture()
        fixture.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.audioFrame(10))
        let outputs = [ViewerWireFormat.rtmp, .flv, .flv].map { fixture.join($0).output }
        for time in 1...20 as ClosedRange<Int64> { fixture.send(Packets.frame(time * 40)) }
        let written = outputs.map { $0.buffers.reduce(0) { $0 + UInt64($1.readableBytes) } }
        #expect(written.allSatisfy { $0 > 0 } && written[0] != written[1])
        fixture.partition.end(.roomEnded, now: fixture.now)
        #expect(fixture.budget.sent.totals == [.rtmp: written[0], .flv: written[1] + written[2], .hls: 0])
        #expect(fixture.counters.bytes.load(ordering: .relaxed) == written.reduce(0, +))
    }

    @Test("count playlists, media and ranges over HLS, but no refusals and no HEAD responses")
    func hls() throws {
        let fixture = try MediaServiceFixture()
        fixture.goOnAir("r")
        var expected = 0
        func ask(_ path: String, range: String? = nil) throws -> MediaServiceFixture.Answer {
            let fields: [HTTPField.Name: String] = range.map { [.range: $0] } ?? [:]
            let answer = try #require(try fixture.exchange(path, fields: fields))
            expected += answer.body.readableBytes
            return answer
        }
        _ = try ask("/live/r/index.m3u8")
        let playlist = try ask("/live/r/media.m3u8?sid=r-5").text
        let segment = try #require(playlist.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try ask("/live/r/\(segment)").body.readableBytes > 1000)
        #expect(try ask("/live/r/\(segment)", range: "bytes=0-99").body.readableBytes == 100)
        #expect(try fixture.exchange("/live/r/\(segment)", method: .head)?.status == 200)
        #expect(try fixture.exchange("/live/none/index.m3u8")?.status == 404)
        #expect(fixture.feeds.load.sent == [.rtmp: 0, .flv: 0, .hls: UInt64(expected)])
    }

    @Test("do not count what a mixer plays of a host")
    func hosts() throws {
        let fixture = try MediaServiceFixture()
        let feeds = [fixture.feeds.open("host", tick: .zero), fixture.feeds.open("r")]
        for feed in feeds {
            let output = RecordingViewerOutput()
            let viewer = FeedViewer(output: output, writer: output, wire: .rtmp, session: nil)
            feed.partition(on: fixture.loop)?.add(viewer, now: .now())
            for packet in [Packets.video(), Packets.key(0), Packets.frame(40)] { feed.receive(packet) }
        }
        #expect(feeds.map { $0.activity.bytes > 0 } == [true, true])
        #expect(fixture.feeds.load.sent[.rtmp] == feeds[1].activity.bytes)
    }
}
