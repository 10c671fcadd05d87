import HLS
import NIOCore
import Testing

@Suite("Low-latency playlist")
struct LowLatencyPlaylistTests {
    private func lines(_ broadcast: Broadcast) -> [String] {
        String(buffer: broadcast.playlist.render(query: "sid=a", prefix: "e1/", isLowLatency: true))
            .split(separator: "\n").map(String.init)
    }

    @Test("renders a program in its second segment")
    func golden() {
        var broadcast = Broadcast(HLSConfiguration(segmentDuration: 1, partDuration: 0.5))
        broadcast.feed(SyntheticProgram.program(frames: 40, gop: 25))
        #expect(
            lines(broadcast) == [
                "#EXTM3U", "#EXT-X-VERSION:9", "#EXT-X-TARGETDURATION:1",
                "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,CAN-SKIP-UNTIL=6.0,HOLD-BACK=3.0,PART-HOLD-BACK=1.506",
                "#EXT-X-PART-INF:PART-TARGET=0.502", "#EXT-X-MEDIA-SEQUENCE:0", "#EXT-X-INDEPENDENT-SEGMENTS",
                "#EXT-X-MAP:URI=\"e1/init0.mp4?sid=a\"", "#EXT-X-PROGRAM-DATE-TIME:2026-11-18T11:06:39.520Z",
                "#EXT-X-PART:DURATION=0.48000,URI=\"e1/s0.p0.m4s?sid=a\",INDEPENDENT=YES",
                "#EXT-X-PART:DURATION=0.48000,URI=\"e1/s0.p1.m4s?sid=a\"",
                "#EXT-X-PART:DURATION=0.04000,URI=\"e1/s0.p2.m4s?sid=a\"",
                "#EXTINF:1.00000,", "e1/s0.m4s?sid=a", "#EXT-X-PROGRAM-DATE-TIME:2026-11-18T11:06:40.520Z",
                "#EXT-X-PART:DURATION=0.48000,URI=\"e1/s1.p0.m4s?sid=a\",INDEPENDENT=YES",
                "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"e1/s1.p1.m4s?sid=a\"",
            ]
        )
        #expect(broadcast.playlist.nextPart == PartPosition(sequence: 1, index: 1))
    }

    @Test("announces the next part correctly")
    func announcements() {
        var broadcast = Broadcast()
        var announced = broadcast.playlist.nextPart
        for packet in SyntheticProgram.program(frames: 300, gop: 48) {
            let before = broadcast.parts.count
            broadcast.feed([packet])
            if broadcast.parts.count > before {
                #expect(broadcast.parts[before].position == announced)
            }
            announced = broadcast.playlist.nextPart
        }
        #expect(broadcast.parts.count > 30)
    }

    @Test("lists parts of the newest segments only")
    func oldParts() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 301))
        let names = lines(broadcast).filter { $0.hasPrefix("#EXT-X-PART:") }
            .compactMap { $0.split(separator: "/").last?.split(separator: ".").first }
        #expect(Set(names) == ["s3", "s4", "s5"])
    }

    @Test("omits segments beyond the skip boundary in a delta update and appends rendition reports")
    func delta() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 501))
        let text = String(
            buffer: broadcast.playlist.render(
                prefix: "e1/",
                isLowLatency: true,
                isDelta: true,
                reports: [RenditionReport(uri: "360p.m3u8", last: PartPosition(sequence: 9, index: 6))]
            )
        )
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=3"))
        #expect(lines.first { !$0.hasPrefix("#") } == "e1/s3.m4s")
        #expect(lines.filter { !$0.hasPrefix("#") }.count == 7)
        #expect(
            lines.suffix(2) == [
                "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"e1/s10.p0.m4s\"",
                "#EXT-X-RENDITION-REPORT:URI=\"360p.m3u8\",LAST-MSN=9,LAST-PART=6",
            ]
        )
    }
}
