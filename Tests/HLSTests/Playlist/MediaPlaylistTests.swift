import HLS
import Media
import NIOCore
import Testing

@Suite("Media playlist")
struct MediaPlaylistTests {
    @Test("renders a short program")
    func golden() {
        var broadcast = Broadcast()
        #expect(!broadcast.playlist.isPlayable)
        broadcast.feed(SyntheticProgram.program(frames: 101))
        #expect(broadcast.playlist.isPlayable)
        #expect(
            broadcast.text(query: "sid=abc", prefix: "e3/") == """
                #EXTM3U
                #EXT-X-VERSION:7
                #EXT-X-TARGETDURATION:2
                #EXT-X-MEDIA-SEQUENCE:0
                #EXT-X-INDEPENDENT-SEGMENTS
                #EXT-X-MAP:URI="e3/init0.mp4?sid=abc"
                #EXT-X-PROGRAM-DATE-TIME:2026-11-18T11:06:39.800Z
                #EXTINF:2.00000,
                e3/s0.m4s?sid=abc
                #EXT-X-PROGRAM-DATE-TIME:2026-11-18T11:06:41.800Z
                #EXTINF:2.00000,
                e3/s1.m4s?sid=abc

                """
        )
    }

    @Test("slides the window, counts departed discontinuities and keeps files for the grace period")
    func rolling() throws {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 3, graceLength: 2))
        broadcast.feed(SyntheticProgram.program(frames: 50))
        broadcast.segmenter.discontinuity()
        broadcast.feed(SyntheticProgram.program(from: 10_000, frames: 101))
        #expect(broadcast.playlist.mediaSequence == 0)
        #expect(broadcast.text().contains("#EXT-X-DISCONTINUITY\n"))
        #expect(!broadcast.text().contains("DISCONTINUITY-SEQUENCE"))

        broadcast.feed(SyntheticProgram.program(from: 14_040, frames: 50, withConfiguration: false))
        broadcast.feed(SyntheticProgram.program(from: 16_040, frames: 2, withConfiguration: false))
        #expect(broadcast.playlist.mediaSequence == 1)
        #expect(broadcast.playlist.discontinuitySequence == 0)
        #expect(broadcast.playlist.segments.map(\.isDiscontinuity) == [true, false, false])

        broadcast.feed(SyntheticProgram.program(from: 18_040, frames: 2, withConfiguration: false))
        let text = broadcast.text()
        #expect(text.contains("#EXT-X-MEDIA-SEQUENCE:2\n#EXT-X-DISCONTINUITY-SEQUENCE:1\n"))
        #expect(!text.contains("#EXT-X-DISCONTINUITY\n"))
        #expect(text.contains("#EXT-X-MAP:URI=\"init0.mp4\"\n"))
        #expect(broadcast.playlist.file(named: "s0.m4s") != nil)

        broadcast.feed(SyntheticProgram.program(from: 20_040, frames: 2, withConfiguration: false))
        #expect(broadcast.playlist.file(named: "s0.m4s") == nil)
        #expect(broadcast.playlist.file(named: "s1.m4s") == broadcast.segments[1].parts)
        #expect(broadcast.playlist.storedBytes == broadcast.segments[1...5].reduce(0) { $0 + $1.byteCount })
    }

    @Test("keeps short segments listed until the rest lasts three target durations")
    func shortSegments() {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 3))
        for run in 0..<40 {
            broadcast.feed(SyntheticProgram.program(from: Int64(run) * 1_000, frames: 12))
            broadcast.segmenter.discontinuity()
            let listed = broadcast.playlist.segments.reduce(0) { $0 + $1.duration }
            #expect(listed >= 6 || broadcast.playlist.mediaSequence == 0)
            #expect(listed < 6.6)
        }
        #expect(broadcast.playlist.mediaSequence > 20)
        #expect(broadcast.playlist.segments.count > 3)
    }

    @Test("keeps a departed segment available for its duration plus that of the playlist")
    func availability() {
        var broadcast = Broadcast(HLSConfiguration())
        var left: Int64?
        var gone: Int64?
        for packet in SyntheticProgram.frames(rate: 30, seconds: 50) {
            broadcast.feed([packet])
            if left == nil, broadcast.playlist.mediaSequence > 0 { left = packet.timestamp }
            if gone == nil, !broadcast.segments.isEmpty, broadcast.playlist.file(named: "s0.m4s") == nil {
                gone = packet.timestamp
            }
        }
        // Its two seconds, and the twenty of the playlists that listed it.
        #expect(left == 22_000)
        #expect(gone == 44_000)
    }

    @Test("finds files by their exact names only")
    func lookups() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 80))
        let playlist = broadcast.playlist
        #expect(playlist.file(named: "init0.mp4") == [broadcast.initializations[0].data])
        #expect(playlist.file(named: "s0.m4s") == broadcast.segments[0].parts)
        #expect(playlist.file(named: "s0.p1.m4s") == [broadcast.segments[0].parts[1]])
        #expect(playlist.file(named: "s1.p0.m4s") == broadcast.parts.first { $0.sequence == 1 }.map { [$0.data] })
        let unknownNames = [
            "", "s", "s.m4s", "s00.m4s", "s+0.m4s", "s-1.m4s", "s1.m4s", "s99999999999999999999.m4s", "init1.mp4",
            "../s0.m4s", "s0.m4s?x", "S0.m4s", "s0.p99.m4s", "s7.p0.m4s", "s9223372036854775807.m4s", "s0.p1", "s0.p",
            "s0.p01.m4s", "s0.p1.m4s ", "s0.p1.mp4", "s0p1.m4s", "init00.mp4", "init0.m4s", "init.mp4",
        ]
        for name in unknownNames { #expect(playlist.file(named: name) == nil, "\(name)") }
    }

    @Test("keeps an initialization segment while a segment needs it")
    func initializations() {
        var broadcast = Broadcast(HLSConfiguration(windowLength: 3, graceLength: 0))
        broadcast.feed([SyntheticProgram.audioConfiguration] + SyntheticProgram.audioFrames(seconds: 3))
        broadcast.feed(SyntheticProgram.program(from: 3000, frames: 101))
        #expect(broadcast.playlist.file(named: "init0.mp4") != nil)
        #expect(broadcast.text().components(separatedByMap: "init").count == 2)
        broadcast.feed(SyntheticProgram.program(from: 7040, frames: 100))
        #expect(broadcast.playlist.file(named: "init0.mp4") == nil)
        #expect(broadcast.playlist.file(named: "init1.mp4") != nil)
    }

    @Test("ends with EXT-X-ENDLIST and discards unfinished parts")
    func end() {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 70))
        broadcast.finish()
        #expect(broadcast.playlist.isEnded)
        #expect(broadcast.text().hasSuffix("#EXTINF:0.80000,\ns1.m4s\n#EXT-X-ENDLIST\n"))
        #expect(broadcast.playlist.storedBytes == broadcast.segments.reduce(0) { $0 + $1.byteCount })
    }

    @Test("measures the bandwidth of the listed segments")
    func bandwidth() throws {
        var broadcast = Broadcast()
        broadcast.feed(SyntheticProgram.program(frames: 101))
        let bits = broadcast.segments.map { $0.byteCount * 8 }
        #expect(broadcast.playlist.peakBandwidth == bits.map { ($0 + 1) / 2 }.max())
        #expect(broadcast.playlist.averageBandwidth == (bits[0] + bits[1] + 3) / 4)
    }
}

extension String {
    /// Returns the EXT-X-MAP tags whose URI begins with `name`.
    fileprivate func components(separatedByMap name: String) -> [Substring] {
        split(separator: "\n").filter { $0.hasPrefix("#EXT-X-MAP:URI=\"\(name)") }
    }
}
