import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Damaged and hostile data", .enabled(if: TestRun.isFull))
struct DamagedDataTests {
    @Test("bits flipped and packets cut anywhere cost frames, never the decoder", arguments: 1...6)
    func fuzzedVideo(seed: Int) throws {
        CodecLibraries.quiet()
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=176x144:r=30:d=2",
            "-c:v",
            "libx264",
            "-bf",
            "2",
            "-g",
            "15",
            "-pix_fmt",
            "yuv420p"
        )
        var random = SeededGenerator(seed: seed)
        var decoder = try VideoDecoder(configuration: video.videoConfiguration)
        let canvas = try Canvas(width: 160, height: 90)
        var failures = 0
        for packet in video.frames {
            do {
                try decoder.decode(random.damage(packet)) { frame in
                    #expect(frame.width <= 4096)
                    do { try canvas.draw(frame, in: canvas.bounds) } catch { Issue.record(error) }
                }
            } catch {
                failures += 1
            }
        }
        // Whole again, it goes on with the next keyframe.
        var shown = 0
        for packet in video.frames { try decoder.decode(packet) { _ in shown += 1 } }
        #expect(shown > 30, "\(failures) packets failed")
    }

    @Test("damaged configurations give an error or a decoder that shows nothing wrong", arguments: 1...40)
    func fuzzedConfiguration(seed: Int) throws {
        CodecLibraries.quiet()
        let video = try Self.tiny.get()
        var random = SeededGenerator(seed: seed)
        do {
            var decoder = try VideoDecoder(configuration: random.damage(video.videoConfiguration))
            for packet in video.frames {
                try decoder.decode(packet) { #expect($0.width <= 4096 && $0.height <= 4096) }
            }
        } catch {
            #expect(error is CodecError)
        }
    }

    private static let tiny = Result {
        try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=176x144:r=30:d=0.5",
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuv420p"
        )
    }

    @Test("damaged audio gives an error or finite samples", arguments: ["aac", "libmp3lame"])
    func fuzzedAudio(encoder: String) throws {
        CodecLibraries.quiet()
        let audio = try FlashVideo("-f", "lavfi", "-i", "sine=440:d=4:r=44100", "-c:a", encoder, "-b:a", "96k")
        for seed in 1...5 {
            var random = SeededGenerator(seed: seed)
            var decoder = try AudioDecoder(
                codec: encoder == "aac" ? .aac : .mp3,
                configuration: audio.audioConfiguration
            )
            var loudest: Float = 0
            for packet in audio.audioPackets {
                do {
                    try decoder.decode(random.damage(packet)) { block in
                        block.withChannels { left, right in
                            for sample in left { loudest = max(loudest, sample.isFinite ? abs(sample) : .infinity) }
                            for sample in right { loudest = max(loudest, sample.isFinite ? abs(sample) : .infinity) }
                        }
                    }
                } catch {
                    #expect(error.isRetryable, "\(error)")
                }
            }
            #expect(loudest <= 8)
        }
    }

    @Test("an empty packet is an error, not the end of the stream")
    func emptyPacket() throws {
        let video = try Self.tiny.get()
        var decoder = try VideoDecoder(configuration: video.videoConfiguration)
        let empty = MediaPacket.h264Frame(isKey: true, isDisposable: false, timestamp: 0, capacity: 0) { _ in }
        #expect(throws: CodecError.self) { try decoder.decode(empty) { _ in } }
        var shown = 0
        for packet in video.frames { try decoder.decode(packet) { _ in shown += 1 } }
        decoder.flush { _ in shown += 1 }
        #expect(shown == 15)
    }
}
