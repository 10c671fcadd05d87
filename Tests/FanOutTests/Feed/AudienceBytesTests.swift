@testable import FanOut
import HTTPTypes
import Media
import NIOCore
import Stage
import Synchronization
import Testing

@Suite("What viewers were given, told by the way in which they watch")
struct AudienceBytesTests {
    @Test("media to the byte, by RTMP and by HTTP-FLV; of a feed that is over too")
    func streams() {
        let stand = ShareStand()
        stand.send(Packets.metadata(), Packets.video(), Packets.audio(), Packets.key(0), Packets.sound(10))
        let outputs = [ViewerWire.rtmp, .flv, .flv].map { stand.join($0).output }
        for time in 1...20 as ClosedRange<Int64> { stand.send(Packets.picture(time * 40)) }
        let written = outputs.map { $0.buffers.reduce(0) { $0 + UInt64($1.readableBytes) } }
        #expect(written.allSatisfy { $0 > 0 } && written[0] != written[1])
        stand.share.end(.roomEnded, now: stand.now)
        #expect(stand.budget.sent.totals == [.rtmp: written[0], .flv: written[1] + written[2], .hls: 0])
        #expect(stand.counters.bytes.load(ordering: .relaxed) == written.reduce(0, +))
    }

    @Test("playlists and media by HLS, ranges as far as they go; not what is refused, and nothing for HEAD")
    func hls() throws {
        let stand = try SiteStand()
        stand.goOnAir("r")
        var expected = 0
        func ask(_ path: String, range: String? = nil) throws -> SiteStand.Answer {
            let fields: [HTTPField.Name: String] = range.map { [.range: $0] } ?? [:]
            let answer = try #require(try stand.exchange(path, fields: fields))
            expected += answer.body.readableBytes
            return answer
        }
        _ = try ask("/live/r/index.m3u8")
        let playlist = try ask("/live/r/media.m3u8?sid=r-5").text
        let segment = try #require(playlist.split(separator: "\n").last { !$0.hasPrefix("#") })
        #expect(try ask("/live/r/\(segment)").body.readableBytes > 1000)
        #expect(try ask("/live/r/\(segment)", range: "bytes=0-99").body.readableBytes == 100)
        #expect(try stand.exchange("/live/r/\(segment)", method: .head)?.status == 200)
        #expect(try stand.exchange("/live/none/index.m3u8")?.status == 404)
        #expect(stand.feeds.load.sent == [.rtmp: 0, .flv: 0, .hls: UInt64(expected)])
    }

    @Test("what a mixer takes of a host is no viewer's")
    func hosts() throws {
        let stand = try SiteStand()
        let feeds = [stand.feeds.open("host", tick: .zero), stand.feeds.open("r")]
        for feed in feeds {
            let output = RecordingOutput()
            let viewer = Viewer(output: output, writer: output, wire: .rtmp, session: nil)
            feed.share(on: stand.loop)?.add(viewer, now: .now())
            for packet in [Packets.video(), Packets.key(0), Packets.picture(40)] { feed.receive(packet) }
        }
        #expect(feeds.map { $0.activity.bytes > 0 } == [true, true])
        #expect(stand.feeds.load.sent[.rtmp] == feeds[1].activity.bytes)
    }
}
