import Media
import TestSupport
import Testing

@testable import Codecs

@Suite("Frames made smaller while they are decoded", .enabled(if: TestRun.isFull)) struct FrameDownscalerTests {
    /// Decodes `packets` and paints each frame into a tile; what is on the canvas then.
    private func fingerprints(
        _ packets: [MediaPacket],
        _ configuration: MediaPacket,
        tile: PixelRectangle,
        fit: FrameFit = .fill,
        isReduced: Bool,
        economy: VideoDecoder.Economy = .none
    ) throws -> (values: [UInt64], reduced: Int, failures: Int) {
        var decoder = try VideoDecoder(configuration: configuration)
        decoder.economy = economy
        if isReduced { decoder.reduction = DownscaleTarget(width: tile.width, height: tile.height, fit: fit) }
        var frames: [VideoFrame] = []
        var failures = 0
        for packet in packets {
            do { try decoder.decode(packet) { frames.append($0) } } catch { failures += 1 }
        }
        decoder.flush { frames.append($0) }
        let canvas = try Canvas(width: 1280, height: 720)
        var reduced = 0
        let values = try frames.map { frame in
            let framing = FramePlacement(
                width: frame.width,
                height: frame.height,
                aspect: frame.sampleAspectRatio,
                rectangle: tile,
                fit: fit
            )
            reduced += frame.withReducedPlanes(framing.crop, framing.target) { _ in 1 } ?? 0
            canvas.fill(canvas.bounds, .black)
            try canvas.draw(frame, in: tile, mode: fit)
            return canvas.fingerprint
        }
        #expect((decoder.downscaleSeconds > 0) == (reduced > 0))
        return (values, reduced, failures)
    }

    @Test(
        "they are to the bit what they would be made smaller afterwards, at every ratio and in every coding",
        arguments: [
            (636, 356), (420, 234), (316, 176), (956, 536), (960, 540), (314, 234), (500, 500), (426, 240),
        ]
    )
    func same(width: Int, height: Int) throws {
        let tile = PixelRectangle(x: 8, y: 4, width: width, height: height)
        for (size, options) in [("1280x720", ["-slices", "3"]), ("1920x1080", ["-tune", "zerolatency"])] {
            let source = "testsrc2=s=\(size):r=30:d=0.3,noise=alls=20:allf=t"
            let video = try FlashVideo(
                options: ["-f", "lavfi", "-i", source, "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p"]
                    + options
            )
            for fit in [FrameFit.fill, .fit] {
                let configuration = try video.videoConfiguration
                let plain = try fingerprints(video.frames, configuration, tile: tile, fit: fit, isReduced: false)
                let made = try fingerprints(video.frames, configuration, tile: tile, fit: fit, isReduced: true)
                #expect(plain.values == made.values && plain.values.count == 9, "\(size) \(fit)")
                #expect(plain.reduced == 0 && [0, 9].contains(made.reduced), "\(size) \(fit)")
                if width == 636, size == "1280x720" { #expect(made.reduced == 9) }
            }
        }
    }

    @Test("also where deblocking is left out, in interlaced frames, and in colours of another matrix and range")
    func oddCoding() throws {
        let tile = PixelRectangle(x: 0, y: 0, width: 320, height: 180)
        let codings = [
            ["-flags", "+ildct+ilme", "-x264-params", "interlaced=1"], ["-x264-params", "no-deblock=1"],
            ["-color_range", "pc", "-colorspace", "bt470bg"], ["-x264-params", "deblock=2,2:bframes=3:b-pyramid=2"],
        ]
        for coding in codings {
            let source = "testsrc2=s=640x360:r=30:d=0.5,noise=alls=20:allf=t"
            let video = try FlashVideo(
                options: ["-f", "lavfi", "-i", source, "-c:v", "libx264", "-pix_fmt", "yuv420p"] + coding
            )
            for economy in [VideoDecoder.Economy.none, .skipDeblockingDisposable] {
                let plain = try fingerprints(
                    video.frames,
                    video.videoConfiguration,
                    tile: tile,
                    isReduced: false,
                    economy: economy
                )
                let made = try fingerprints(
                    video.frames,
                    video.videoConfiguration,
                    tile: tile,
                    isReduced: true,
                    economy: economy
                )
                #expect(plain.values == made.values && plain.values.count == 15, "\(coding)")
            }
        }
    }

    @Test("damaged frames are mended before they are shown, small or not", arguments: 1...4)
    func damaged(seed: Int) throws {
        CodecLibraries.quiet()
        let source = "testsrc2=s=640x360:r=30:d=1,noise=alls=20:allf=t"
        let video = try FlashVideo(
            options: ["-f", "lavfi", "-i", source, "-c:v", "libx264", "-g", "8", "-slices", "2", "-pix_fmt", "yuv420p"]
        )
        var random = SeededGenerator(seed: seed)
        let packets = video.frames.map { random.damage($0) }
        let tile = PixelRectangle(x: 0, y: 0, width: 320, height: 180)
        let plain = try fingerprints(packets, video.videoConfiguration, tile: tile, isReduced: false)
        let made = try fingerprints(packets, video.videoConfiguration, tile: tile, isReduced: true)
        #expect(plain.values == made.values && plain.failures == made.failures && !plain.values.isEmpty)
    }

    @Test("another size is taken up with the next frame; one that is hardly smaller is not made")
    func changing() throws {
        let source = "testsrc2=s=640x360:r=30:d=0.5"
        let video = try FlashVideo(
            options: ["-f", "lavfi", "-i", source, "-c:v", "libx264", "-tune", "zerolatency", "-pix_fmt", "yuv420p"]
        )
        var decoder = try VideoDecoder(configuration: video.videoConfiguration)
        let sizes = [(320, 180), (160, 90), (640, 360), (600, 338), (320, 180)]
        for (packet, size) in zip(video.frames, sizes) {
            decoder.reduction = DownscaleTarget(width: size.0, height: size.1, fit: .fill)
            try decoder.decode(packet) { frame in
                for (width, height) in [(320, 180), (160, 90), (640, 360), (600, 338)] {
                    let target = PixelRectangle(x: 0, y: 0, width: width, height: height)
                    let framing = FramePlacement(
                        width: 640,
                        height: 360,
                        aspect: .square,
                        rectangle: target,
                        fit: .fill
                    )
                    let isThere = frame.withReducedPlanes(framing.crop, target) { _ in true } ?? false
                    #expect(isThere == (size == (width, height) && width <= 320), "\(size) \(width)")
                }
            }
        }
    }
}
