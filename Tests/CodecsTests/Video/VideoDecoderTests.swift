import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Decoding hosts' frames", .enabled(if: TestRun.isFull))
struct VideoDecoderTests {
    @Test("reordered frames come out in presentation order with the very times of their packets")
    func reordered() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=320x180:r=30:d=2",
            "-c:v",
            "libx264",
            "-bf",
            "2",
            "-g",
            "30",
            "-pix_fmt",
            "yuv420p"
        )
        let packets = video.frames
        #expect(packets.contains { $0.compositionOffset > 40 })
        let times = try decodedFrames(of: packets, configuration: video.videoConfiguration).map(\.presentationTimestamp)
        #expect(times == packets.map(\.presentationTimestamp).sorted())
        #expect(times.count == 60)
    }

    @Test("a stream without reordering gives each frame at once")
    func immediate() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=320x180:r=30:d=1",
            "-c:v",
            "libx264",
            "-tune",
            "zerolatency",
            "-pix_fmt",
            "yuv420p"
        )
        var decoder = try VideoDecoder(configuration: video.videoConfiguration)
        for packet in video.frames {
            var times: [Int64] = []
            try decoder.decode(packet) { times.append($0.presentationTimestamp) }
            #expect(times == [packet.timestamp])
        }
    }

    @Test("times of 24 hours and below zero pass through unchanged")
    func extremeTimes() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=160x90:r=30:d=0.2",
            "-c:v",
            "libx264",
            "-tune",
            "zerolatency",
            "-pix_fmt",
            "yuv420p"
        )
        for start in [Int64(-5000), 86_400_000, 1 << 40] {
            let moved = video.frames.map { packet in
                var packet = packet
                packet.timestamp += start
                return packet
            }
            let times = try decodedFrames(of: moved, configuration: video.videoConfiguration).map(
                \.presentationTimestamp
            )
            #expect(times == moved.map(\.timestamp))
        }
    }

    @Test("the tags of a stream tell range, matrix and sample shape")
    func tags() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=gray:s=720x576:r=25:d=0.2",
            "-vf",
            "scale=out_range=full:out_color_matrix=bt601,setsar=64/45",
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuvj420p",
            "-color_range",
            "pc",
            "-colorspace",
            "bt470bg"
        )
        let frame = try #require(try decodedFrames(of: video.frames, configuration: video.videoConfiguration).first)
        #expect(frame.isFullRange)
        #expect(frame.matrix == .bt601)
        #expect(frame.sampleAspectRatio == SampleAspectRatio(64, 45))
        #expect(frame.width == 720 && frame.height == 576)
    }

    @Test("an untagged stream is BT.601 in standard definition and BT.709 above it")
    func untagged() throws {
        for (size, matrix) in [("640x480", ColourMatrix.bt601), ("1280x720", .bt709), ("720x1280", .bt709)] {
            let video = try FlashVideo(
                "-f",
                "lavfi",
                "-i",
                "color=c=gray:s=\(size):r=25:d=0.04",
                "-c:v",
                "libx264",
                "-pix_fmt",
                "yuv420p"
            )
            let frame = try #require(try decodedFrames(of: video.frames, configuration: video.videoConfiguration).first)
            #expect(frame.matrix == matrix, "\(size)")
        }
    }

    @Test("the frame size may change in mid-stream, inside one decoder and with a new one")
    func resolutionChange() throws {
        let small = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=red:s=320x180:r=30:d=0.2",
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuv420p"
        )
        let large = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=blue:s=640x360:r=30:d=0.2",
            "-c:v",
            "libx264",
            "-pix_fmt",
            "yuv420p"
        )
        var decoder = try VideoDecoder(configuration: small.videoConfiguration)
        var sizes: [Int] = []
        for packet in small.frames { try decoder.decode(packet) { sizes.append($0.width) } }
        // The new parameter sets travel inside the first frame, each with its length.
        let record = try AVCConfiguration(large.videoConfiguration.payload)
        let sets = record.sequenceParameterSets + record.pictureParameterSets
        for (index, packet) in large.frames.enumerated() {
            let joined = MediaPacket.h264Frame(
                isKey: packet.isKeyframe,
                isDisposable: false,
                timestamp: packet.timestamp + 1000,
                compositionOffset: packet.compositionOffset,
                capacity: 4096
            ) { body in
                for set in index == 0 ? sets : [] {
                    body.writeInteger(UInt32(set.readableBytes))
                    body.writeImmutableBuffer(set)
                }
                body.writeImmutableBuffer(packet.payload)
            }
            try decoder.decode(joined) { sizes.append($0.width) }
        }
        decoder.flush { sizes.append($0.width) }
        #expect(sizes.filter { $0 == 320 }.count == 6)
        #expect(sizes.filter { $0 == 640 }.count == 6)
        #expect(sizes == sizes.sorted())
    }

    @Test("frames larger than the limit are refused, and nothing is allocated for them")
    func tooLarge() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=red:s=4096x2320:r=1:d=1",
            "-c:v",
            "libx264",
            "-preset",
            "ultrafast",
            "-pix_fmt",
            "yuv420p"
        )
        var shown = 0
        #expect(throws: CodecError.self) {
            var decoder = try VideoDecoder(configuration: video.videoConfiguration)
            for packet in video.frames { try decoder.decode(packet) { _ in shown += 1 } }
        }
        #expect(shown == 0)
    }

    @Test("a decoder told to save time leaves out what it is told to")
    func economy() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "testsrc2=s=320x180:r=30:d=1",
            "-c:v",
            "libx264",
            "-bf",
            "2",
            "-g",
            "15",
            "-pix_fmt",
            "yuv420p"
        )
        func shown(_ economy: VideoDecoder.Economy) throws -> Int {
            var decoder = try VideoDecoder(configuration: video.videoConfiguration)
            decoder.economy = economy
            var shown = 0
            for packet in video.frames { try decoder.decode(packet) { _ in shown += 1 } }
            decoder.flush { _ in shown += 1 }
            return shown
        }
        #expect(try shown(.none) == 30)
        #expect(try shown(.skipDeblockingDisposable) == 30)
        #expect(try shown(.skipDeblockingNonKey) == 30)
        let withoutDisposable = try shown(.skipDisposable)
        #expect((10..<30).contains(withoutDisposable))
        #expect(try shown(.keyframesOnly) == 2)
    }
}
