import Media
import TestSupport
import Testing

@testable import Codecs

@Suite("Frames in their places")
struct CanvasGeometryTests {
    private static let gray = YUVColour(red: 60, green: 60, blue: 60)

    /// A frame with a white cross of 2 pixels exactly in its middle on black, as an encoder of ours would send it.
    private func cross(width: Int, height: Int) throws -> VideoFrame {
        let canvas = try Canvas(width: width, height: height)
        let white = YUVColour(red: 255, green: 255, blue: 255)
        canvas.fill(PixelRectangle(x: (width / 2) & ~1, y: 0, width: 2, height: height), white)
        canvas.fill(PixelRectangle(x: 0, y: (height / 2) & ~1, width: width, height: 2), white)
        return try coded(canvas)
    }

    private func coded(_ canvas: Canvas) throws -> VideoFrame {
        let settings = VideoEncoderConfiguration(width: canvas.width, height: canvas.height, bitrate: 20_000_000)
        var encoder = try VideoEncoder(settings)
        let configuration = MediaPacket.h264Configuration(encoder.configuration, timestamp: 0)
        var packets: [MediaPacket] = []
        try encoder.encode(canvas, index: 0, timestamp: 0, forceKey: true) { packets.append($0) }
        return try #require(try decodedFrames(of: packets, configuration: configuration).first)
    }

    @Test("fill and copy touch exactly their pixels")
    func exactPixels() throws {
        let canvas = try Canvas(width: 64, height: 64)
        let red = YUVColour(red: 255, green: 0, blue: 0)
        canvas.fill(PixelRectangle(x: 10, y: 20, width: 12, height: 6), red)
        let other = try Canvas(width: 64, height: 64)
        other.copy(PixelRectangle(x: 14, y: 18, width: 20, height: 6), from: canvas)
        for y in 0..<64 {
            for x in 0..<64 {
                let isRed = (10..<22).contains(x) && (20..<26).contains(y)
                #expect(canvas.colour(x: x, y: y) == (isRed ? red : .black))
                let isCopied = isRed && x >= 14 && y < 24
                #expect(other.colour(x: x, y: y) == (isCopied ? red : .black))
            }
        }
    }

    @Test("what leaves the canvas is cut off, and drawing there is refused")
    func outside() throws {
        let canvas = try Canvas(width: 64, height: 64)
        canvas.fill(PixelRectangle(x: -20, y: 50, width: 200, height: 200), Self.gray)
        #expect(canvas.colour(x: 63, y: 63) == Self.gray)
        #expect(canvas.colour(x: 0, y: 49) == .black)
        canvas.fill(PixelRectangle(x: 100, y: 100, width: 8, height: 8), .black)
        let frame = try coded(canvas)
        for rectangle in [
            PixelRectangle(x: -2, y: 0, width: 20, height: 20), PixelRectangle(x: 50, y: 0, width: 20, height: 20),
            PixelRectangle(x: 0, y: 0, width: 0, height: 20),
        ] {
            let error = #expect(throws: CodecError.self) { try canvas.draw(frame, in: rectangle) }
            #expect(error?.code == .badRectangle)
        }
    }

    @Test("the middle of a frame stays in the middle of every tile of the grid layouts, and nothing spills over")
    func middle() throws {
        let sources = [(1280, 720), (1920, 1080), (640, 480), (720, 1280), (854, 480), (642, 362), (320, 180)]
        let tiles = [(636, 356), (420, 356), (314, 356), (314, 234), (636, 720), (1280, 720)]
        for (width, height) in sources {
            let frame = try cross(width: width, height: height)
            for (tileWidth, tileHeight) in tiles {
                for mode in [FrameFit.fill, .fit] {
                    try checkMiddle(frame, tileWidth, tileHeight, mode)
                }
            }
        }
    }

    private func checkMiddle(_ frame: VideoFrame, _ width: Int, _ height: Int, _ mode: FrameFit) throws {
        let canvas = try Canvas(width: 1296, height: 736)
        canvas.fill(canvas.bounds, Self.gray)
        let tile = PixelRectangle(x: 8, y: 8, width: width, height: height)
        try canvas.draw(frame, in: tile, mode: mode)
        let name = "\(frame.width)x\(frame.height) in \(width)x\(height) \(mode)"
        // The cross is one or two source pixels off the exact middle; look away from its other arm.
        let x = try #require(brightest(tile.x..<tile.right) { canvas.luma(x: $0, y: tile.y + height / 2 - 24) })
        let y = try #require(brightest(tile.y..<tile.bottom) { canvas.luma(x: tile.x + width / 2 - 24, y: $0) })
        let scales = (Double(width) / Double(frame.width), Double(height) / Double(frame.height))
        let slack = 2 + 2 * (mode == .fill ? max(scales.0, scales.1) : min(scales.0, scales.1))
        #expect(abs(x - Double(tile.x) - Double(width) / 2) <= slack, "\(name): column \(x)")
        #expect(abs(y - Double(tile.y) - Double(height) / 2) <= slack, "\(name): row \(y)")
        for (x, y) in [
            (tile.x - 1, tile.y + 20), (tile.right, tile.y + 20), (tile.x + 20, tile.y - 1), (tile.x + 20, tile.bottom),
        ] {
            #expect(canvas.luma(x: x, y: y) == Self.gray.y, "\(name) spills over at \(x), \(y)")
        }
    }

    /// The centre of the light along a line.
    private func brightest(_ range: Range<Int>, _ luma: (Int) -> UInt8) -> Double? {
        var (weight, sum) = (0.0, 0.0)
        for position in range where luma(position) > 60 {
            let light = Double(luma(position)) - 16
            weight += light
            sum += light * (Double(position) + 0.5)
        }
        return weight > 0 ? sum / weight : nil
    }

    @Test("fit shows the whole frame between bars of the background's colour")
    func letterbox() throws {
        let white = try Canvas(width: 320, height: 240)
        white.fill(white.bounds, YUVColour(red: 255, green: 255, blue: 255))
        let frame = try coded(white)
        let canvas = try Canvas(width: 640, height: 360)
        try canvas.draw(frame, in: canvas.bounds, mode: .fit, background: Self.gray)
        // 4:3 in 360 rows is 480 columns wide.
        for x in 0..<640 {
            let isFrame = (80..<560).contains(x)
            #expect(abs(Int(canvas.luma(x: x, y: 180)) - (isFrame ? 235 : Int(Self.gray.y))) <= 2, "column \(x)")
        }
        let tall = try Canvas(width: 360, height: 640)
        try tall.draw(frame, in: tall.bounds, mode: .fit, background: Self.gray)
        for y in 0..<640 {
            let isFrame = (186..<456).contains(y)
            let isEdge = (184..<188).contains(y) || (454..<458).contains(y)
            if !isEdge {
                #expect(abs(Int(tall.luma(x: 180, y: y)) - (isFrame ? 235 : Int(Self.gray.y))) <= 2, "row \(y)")
            }
        }
    }

    @Test("between filling a tile and being seen whole a frame shrinks evenly, in its shape and in the middle")
    func between() {
        for (width, height) in [(1280, 720), (720, 1280), (640, 480)] {
            for (across, down) in [(636, 720), (1280, 532), (314, 180), (636, 356)] {
                let tile = PixelRectangle(x: 8, y: 8, width: across, height: down)
                func framing(_ fit: FrameFit) -> FramePlacement {
                    FramePlacement(width: width, height: height, aspect: .square, rectangle: tile, fit: fit)
                }
                let ways = (0...30).map { framing(.between(Double($0) / 30)) }
                let (fill, fit) = (framing(.fill), framing(.fit))
                let name = "\(width)x\(height) in \(across)x\(down)"
                #expect(ways[0].target == tile, "\(name)")
                #expect(abs(ways[0].crop.width - fill.crop.width) <= width / 32 + 1, "\(name)")
                #expect(abs(ways[0].crop.height - fill.crop.height) <= height / 32 + 1, "\(name)")
                #expect(ways[30].crop == fit.crop, "\(name)")
                #expect(abs(ways[30].target.width - fit.target.width) <= 2, "\(name)")
                #expect(abs(ways[30].target.height - fit.target.height) <= 2, "\(name)")
                for way in ways {
                    let (crop, target) = (way.crop, way.target)
                    #expect(tile.contains(target) && [target.x, target.y].allSatisfy { $0 % 2 == 0 }, "\(name)")
                    #expect([target.width, target.height, crop.x, crop.y].allSatisfy { $0 % 2 == 0 }, "\(name)")
                    #expect(abs(2 * (target.x - tile.x) + target.width - across) <= 3, "\(name)")
                    #expect(abs(2 * (target.y - tile.y) + target.height - down) <= 3, "\(name)")
                    let shape = Double(crop.width * target.height) / Double(crop.height * target.width)
                    #expect(abs(shape - 1) < 0.03, "\(name): \(way)")
                }
                for (one, next) in zip(ways, ways.dropFirst()) {
                    #expect(next.target.width <= one.target.width && next.target.height <= one.target.height)
                    #expect(next.crop.width >= one.crop.width && next.crop.height >= one.crop.height)
                }
            }
        }
    }

    @Test("a portrait frame fills a landscape tile with its middle band")
    func portrait() throws {
        let canvas = try Canvas(width: 360, height: 640)
        canvas.fill(PixelRectangle(x: 0, y: 0, width: 360, height: 200), YUVColour(red: 255, green: 0, blue: 0))
        canvas.fill(PixelRectangle(x: 0, y: 200, width: 360, height: 240), YUVColour(red: 0, green: 255, blue: 0))
        canvas.fill(PixelRectangle(x: 0, y: 440, width: 360, height: 200), YUVColour(red: 0, green: 0, blue: 255))
        let frame = try coded(canvas)
        let tile = try Canvas(width: 636, height: 356)
        try tile.draw(frame, in: tile.bounds, mode: .fill)
        // The visible band is 360 x 201 around the middle: green only.
        let shown = tile.averageColour(of: tile.bounds)
        #expect(distance(shown, red: 0, green: 255, blue: 0) <= 8, "\(shown.rgb)")
    }

    @Test("odd sizes and samples that are not square are shown without a seam")
    func oddSizes() throws {
        for size in ["641x361", "319x239", "1279x719", "33x17"] {
            let video = try FlashVideo(
                "-f",
                "lavfi",
                "-i",
                "color=c=0x3060c0:s=\(size):r=30:d=0.04,format=gbrp,format=yuv444p",
                "-vf",
                "setsar=4/3",
                "-c:v",
                "libx264",
                "-pix_fmt",
                "yuv444p",
                "-colorspace",
                "bt470bg"
            )
            let frame = try #require(try decodedFrames(of: video.frames, configuration: video.videoConfiguration).first)
            #expect("\(frame.width)x\(frame.height)" == size)
            let canvas = try Canvas(width: 320, height: 180)
            let tile = PixelRectangle(x: 2, y: 2, width: 300, height: 170)
            for mode in [FrameFit.fill, .fit] {
                try canvas.draw(frame, in: tile, mode: mode)
            }
            try canvas.draw(frame, in: tile, mode: .fill)
            for (x, y) in [(2, 2), (301, 2), (2, 171), (301, 171), (150, 90)] {
                let error = distance(canvas.colour(x: x, y: y), red: 0x30, green: 0x60, blue: 0xC0)
                #expect(error <= 8, "\(size) at \(x), \(y): \(canvas.colour(x: x, y: y).rgb)")
            }
        }
    }

    @Test("a fine pattern becomes gray at a quarter, and keeps its mean at any other size")
    func finePattern() throws {
        let canvas = try Canvas(width: 1280, height: 720)
        for x in stride(from: 0, to: 1280, by: 4) {
            canvas.fill(PixelRectangle(x: x, y: 0, width: 2, height: 720), YUVColour(red: 255, green: 255, blue: 255))
        }
        let frame = try coded(canvas)
        for (width, height) in [(320, 180), (426, 240), (314, 234), (636, 356)] {
            let tile = try Canvas(width: width, height: height)
            try tile.draw(frame, in: tile.bounds)
            let mean = Int(tile.averageColour(of: tile.bounds).y)
            #expect(abs(mean - 126) <= 4, "\(width)x\(height): \(mean)")
            if width == 320 {
                #expect((0..<width).allSatisfy { abs(Int(tile.luma(x: $0, y: 90)) - mean) <= 4 })
            }
        }
    }
}

@Suite("A frame shown as it is", .enabled(if: TestRun.isFull)) struct BorrowedFrameTests {
    private func video(_ size: String, _ options: String...) throws -> FlashVideo {
        try FlashVideo(
            options: [
                "-f", "lavfi", "-i", "testsrc2=s=\(size):r=30:d=0.4", "-c:v", "libx264", "-pix_fmt", "yuv420p",
                "-colorspace", "bt709",
            ] + options
        )
    }

    private func coded(_ frames: [VideoFrame], isShown: Bool) throws -> [MediaPacket] {
        let settings = VideoEncoderConfiguration(width: 640, height: 360, bitrate: 1_000_000)
        var encoder = try VideoEncoder(settings)
        let canvas = try Canvas(width: 640, height: 360)
        var packets: [MediaPacket] = []
        for (index, frame) in frames.enumerated() {
            if isShown { #expect(canvas.show(frame)) } else { try canvas.draw(frame, in: canvas.bounds) }
            try encoder.encode(canvas, index: Int64(index), timestamp: Int64(index), forceKey: false) {
                packets.append($0)
            }
        }
        return packets
    }

    @Test("it is coded to the very bytes that its copy would be, and looks the same to whoever reads the canvas")
    func same() throws {
        let video = try video("640x360")
        let decoded = try decodedFrames(of: video.frames, configuration: video.videoConfiguration)
        let (shown, drawn) = (try coded(decoded, isShown: true), try coded(decoded, isShown: false))
        #expect(shown.map(\.body) == drawn.map(\.body) && shown.count == 12)
        let (one, other) = (try Canvas(width: 640, height: 360), try Canvas(width: 640, height: 360))
        #expect(one.show(decoded[3]))
        try other.draw(decoded[3], in: other.bounds)
        #expect(one.fingerprint == other.fingerprint)
        let (copy, smaller) = (try Canvas(width: 640, height: 360), try Canvas(width: 320, height: 180))
        copy.copy(copy.bounds, from: one)
        #expect(copy.fingerprint == other.fingerprint)
        try smaller.scale(from: one)
        #expect(try one.png() == other.png() && one.jpeg() == other.jpeg())
    }

    @Test("what is painted afterwards is painted on the canvas, and the frame is untouched")
    func painting() throws {
        let video = try video("640x360")
        let decoded = try decodedFrames(of: video.frames, configuration: video.videoConfiguration)
        let (canvas, other) = (try Canvas(width: 640, height: 360), try Canvas(width: 640, height: 360))
        #expect(canvas.show(decoded[0]))
        let before = canvas.fingerprint
        let red = YUVColour(red: 255, green: 0, blue: 0)
        canvas.fill(canvas.bounds, red)
        #expect(canvas.colour(x: 100, y: 100) == red)
        #expect(canvas.show(decoded[0]) && canvas.fingerprint == before)
        canvas.fade(canvas.bounds, to: red, amount: 0.5)
        #expect(canvas.show(decoded[0]) && canvas.fingerprint == before)
        try canvas.draw(decoded[1], in: canvas.bounds)
        try other.draw(decoded[1], in: other.bounds)
        #expect(canvas.fingerprint == other.fingerprint)
    }

    @Test("what is of another size, shape, matrix or range is not shown so")
    func others() throws {
        let canvas = try Canvas(width: 640, height: 360)
        let before = canvas.fingerprint
        let others = [
            try video("636x360"), try video("1280x720"), try video("640x360", "-vf", "setsar=4/3"),
            try video("640x360", "-color_range", "pc"), try video("640x360", "-colorspace", "bt470bg"),
        ]
        for video in others {
            let decoded = try decodedFrames(of: video.frames, configuration: video.videoConfiguration)
            #expect(!canvas.show(try #require(decoded.first)))
        }
        #expect(canvas.fingerprint == before)
    }
}
