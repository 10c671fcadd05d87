import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Colours on the canvas", .enabled(if: TestRun.isFull))
struct CanvasColourTests {
    @Test("a colour survives the way to limited BT.709 and back")
    func roundTrip() {
        for (red, green, blue) in [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (18, 52, 86)] {
            let colour = YUVColour(red: UInt8(red), green: UInt8(green), blue: UInt8(blue))
            #expect(distance(colour, red: UInt8(red), green: UInt8(green), blue: UInt8(blue)) <= 2)
        }
        #expect(YUVColour(red: 0, green: 0, blue: 0) == .black)
        #expect(YUVColour(red: 255, green: 255, blue: 255) == YUVColour(y: 235, u: 128, v: 128))
        // The reference values of BT.709 red.
        #expect(YUVColour(red: 255, green: 0, blue: 0) == YUVColour(y: 63, u: 102, v: 240))
    }

    struct Tagging: Sendable, CustomTestStringConvertible {
        let matrix: String
        let range: String
        var pixels = "yuv420p"
        var testDescription: String { "\(matrix), \(range), \(pixels)" }
    }

    private static let colours: [(red: UInt8, green: UInt8, blue: UInt8)] = [
        (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (128, 128, 128), (200, 120, 40),
        (30, 90, 160),
    ]

    @Test(
        "hosts of any matrix, range and sampling come out in the right red, green and blue",
        arguments: [
            Tagging(matrix: "bt709", range: "tv"),
            Tagging(matrix: "bt709", range: "pc"),
            Tagging(matrix: "smpte170m", range: "tv"),
            Tagging(matrix: "smpte170m", range: "pc"),
            Tagging(matrix: "smpte240m", range: "tv"),
            Tagging(matrix: "bt2020nc", range: "tv"),
            Tagging(matrix: "bt709", range: "tv", pixels: "yuv422p"),
            Tagging(matrix: "bt709", range: "tv", pixels: "yuv444p"),
            Tagging(matrix: "bt709", range: "tv", pixels: "yuv420p10le"),
            Tagging(matrix: "bt709", range: "pc", pixels: "yuvj444p"),
        ]
    )
    func matrices(tagging: Tagging) throws {
        // zscale would not take RGB without hints; the scale filter takes the matrix by name of its own list.
        let matrix = ["bt709": "bt709", "smpte170m": "smpte170m", "smpte240m": "smpte240m", "bt2020nc": "bt2020"]
        let name = try #require(matrix[tagging.matrix])
        let bars = Self.colours.enumerated().map { index, colour in
            "drawbox=x=\(index * 80):w=80:h=360:t=fill:c=0x"
                + [colour.red, colour.green, colour.blue].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=black:s=640x360:r=30:d=0.1,format=gbrp," + bars.joined(separator: ","),
            "-vf",
            "scale=out_color_matrix=\(name):out_range=\(tagging.range):flags=accurate_rnd+full_chroma_int,"
                + "format=\(tagging.pixels)",
            "-c:v",
            "libx264",
            "-qp",
            "4",
            "-pix_fmt",
            tagging.pixels,
            "-colorspace",
            tagging.matrix,
            "-color_range",
            tagging.range
        )
        let frame = try #require(try decodedFrames(of: video.frames, configuration: video.videoConfiguration).first)
        #expect(frame.isFullRange == (tagging.range == "pc"))
        let canvas = try canvas(showing: frame)
        for (index, colour) in Self.colours.enumerated() {
            let inner = PixelRectangle(x: index * 80 + 16, y: 40, width: 48, height: 280)
            let shown = canvas.averageColour(of: inner)
            let error = distance(shown, red: colour.red, green: colour.green, blue: colour.blue)
            #expect(error <= 5, "\(colour) became \(shown.rgb)")
        }
    }

    @Test("every column is converted, also at the edge that no vector fills")
    func edges() throws {
        let video = try FlashVideo(
            "-f",
            "lavfi",
            "-i",
            "color=c=0xc83214:s=100x60:r=30:d=0.1,format=gbrp",
            "-vf",
            "scale=out_color_matrix=smpte170m:out_range=pc,format=yuvj420p",
            "-c:v",
            "libx264",
            "-qp",
            "4",
            "-pix_fmt",
            "yuvj420p",
            "-colorspace",
            "smpte170m",
            "-color_range",
            "pc"
        )
        let frame = try #require(try decodedFrames(of: video.frames, configuration: video.videoConfiguration).first)
        let canvas = try canvas(showing: frame)
        for x in 0..<100 {
            let error = distance(canvas.colour(x: x, y: 30), red: 0xC8, green: 0x32, blue: 0x14)
            #expect(error <= 5, "column \(x)")
        }
    }

    @Test("the image for people holds the same colours")
    func png() throws {
        let canvas = try Canvas(width: 64, height: 48)
        canvas.fill(canvas.bounds, YUVColour(red: 200, green: 30, blue: 60))
        let image = try canvas.png()
        #expect(image.getBytes(at: 0, length: 8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        #expect(image.getInteger(at: 16, as: UInt32.self) == 64)
        #expect(image.getInteger(at: 20, as: UInt32.self) == 48)
        // Eight bits, red, green and blue.
        #expect(image.getBytes(at: 24, length: 2) == [8, 2])
    }
}
