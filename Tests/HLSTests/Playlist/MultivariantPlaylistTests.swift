import HLS
import NIOCore
import Testing

@Suite("The multivariant playlist says what the program is")
struct MultivariantPlaylistTests {
    @Test("all attributes of a program with picture and sound")
    func full() {
        let playlist = MultivariantPlaylist.render(
            bandwidth: 3_200_000,
            averageBandwidth: 2_900_000,
            resolution: (1280, 720),
            frameRate: 30_000.0 / 1001,
            codecs: "avc1.64001F,mp4a.40.2",
            mediaURI: "media.m3u8?sid=abc"
        )
        #expect(
            String(buffer: playlist) == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-STREAM-INF:BANDWIDTH=3200000,AVERAGE-BANDWIDTH=2900000,CODECS="avc1.64001F,mp4a.40.2",\
                RESOLUTION=1280x720,FRAME-RATE=29.970
                media.m3u8?sid=abc

                """
        )
    }

    @Test("what is not true of one variant is not said of all")
    func dependent() {
        var variant = MultivariantPlaylist.Variant(bandwidth: 1, codecs: "avc1.64001F", mediaURI: "a.m3u8")
        #expect(String(buffer: MultivariantPlaylist.render([variant])).contains("#EXT-X-INDEPENDENT-SEGMENTS\n"))
        let other = variant
        variant.isIndependent = false
        #expect(!String(buffer: MultivariantPlaylist.render([other, variant])).contains("INDEPENDENT"))
    }

    @Test("a program without video says less")
    func audioOnly() {
        let playlist = MultivariantPlaylist.render(bandwidth: 0, codecs: "mp4a.40.2", mediaURI: "m.m3u8")
        #expect(String(buffer: playlist).contains("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2\"\nm.m3u8\n"))
    }
}
