import NIOCore
import Testing

@testable import HLS

@Suite("Multivariant playlist")
struct MultivariantPlaylistTests {
    @Test("renders all attributes of a program with audio and video")
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

    @Test("claims independent segments only if all variants have them")
    func dependent() {
        var variant = MultivariantPlaylist.Variant(bandwidth: 1, codecs: "avc1.64001F", mediaURI: "a.m3u8")
        #expect(String(buffer: MultivariantPlaylist.render([variant])).contains("#EXT-X-INDEPENDENT-SEGMENTS\n"))
        let other = variant
        variant.isIndependent = false
        #expect(!String(buffer: MultivariantPlaylist.render([other, variant])).contains("INDEPENDENT"))
    }

    @Test("omits video attributes for a program without video")
    func audioOnly() {
        let playlist = MultivariantPlaylist.render(bandwidth: 0, codecs: "mp4a.40.2", mediaURI: "m.m3u8")
        #expect(String(buffer: playlist).contains("#EXT-X-STREAM-INF:BANDWIDTH=1,CODECS=\"mp4a.40.2\"\nm.m3u8\n"))
    }
}

@Suite("Dates and numbers in playlists")
struct ProgramDateTimeTests {
    @Test(
        "formats dates across leap days and centuries",
        arguments: [
            (0.0, "1970-01-01T00:00:00.000Z"), (951_782_399.9996, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199.25, "2024-02-29T23:59:59.250Z"), (1_709_251_200, "2024-03-01T00:00:00.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"), (1_798_761_599.001, "2026-12-31T23:59:59.001Z"),
            (-5, "1970-01-01T00:00:00.000Z"), (Double.nan, "1970-01-01T00:00:00.000Z"),
        ]
    )
    func dates(seconds: Double, text: String) {
        #expect(ProgramDateTime.text(seconds) == text)
    }

    @Test("rounds and pads fractions")
    func decimals() {
        #expect(DecimalText.text(2, digits: 5) == "2.00000")
        #expect(DecimalText.text(1.999996, digits: 5) == "2.00000")
        #expect(DecimalText.text(94 * 1024 / 48_000.0, digits: 5) == "2.00533")
        #expect(DecimalText.text(.infinity, digits: 3) == "0.000")
    }
}
