import Codecs
import Foundation
import NIOCore
import TestSupport
import Testing

@Suite("Images from files", .enabled(if: TestRun.isFull)) struct RasterImageTests {
    /// The image laid over black.
    private func shown(_ image: RasterImage) throws -> OverlayImage {
        try Drawing(
            width: image.width,
            height: image.height,
            marks: [.image(image, x: 0, y: 0, cornerRadius: 0, opacity: 1)]
        ).render()
    }

    private func expect(
        _ overlay: OverlayImage,
        _ x: Int,
        _ y: Int,
        _ red: UInt8,
        _ green: UInt8,
        _ blue: UInt8,
        within tolerance: Int = 8
    ) throws {
        let colour = try #require(overlay.colour(x: x, y: y))
        #expect(distance(colour, red: red, green: green, blue: blue) <= tolerance)
    }

    @Test(
        "every kind of image file comes out in its own colours and size",
        arguments: [
            ("png", []), ("jpg", ["-pix_fmt", "yuvj444p", "-q:v", "2"]),
            ("jpg", ["-pix_fmt", "yuvj420p", "-q:v", "2"]),
            ("webp", ["-lossless", "1"]), ("webp", ["-q:v", "95"]), ("gif", []), ("bmp", []),
            ("png", ["-pix_fmt", "rgba64be"]), ("png", ["-pix_fmt", "rgb48be"]), ("jpg", ["-pix_fmt", "yuvj422p"]),
        ] as [(String, [String])]
    )
    func kinds(kind: String, options: [String]) throws {
        let file = try ImageSample.file(ImageSample.flag, kind, arguments: options + ["-frames:v", "1"])
        #expect(ImageFormat(sniffing: file)?.rawValue == (kind == "jpg" ? "jpeg" : kind))
        let image = try RasterImage.read(file)
        #expect(image.width == 96 && image.height == 64)
        let overlay = try shown(image)
        #expect(overlay.isOpaque)
        let tolerance = kind == "png" || kind == "bmp" ? 3 : 24
        try expect(overlay, 20, 40, 255, 0, 0, within: tolerance)
        try expect(overlay, 76, 40, 0, 0, 255, within: tolerance)
        try expect(overlay, 40, 6, 255, 255, 255, within: tolerance)
    }

    @Test("palettes, grey and alpha are kept", arguments: ["png", "webp", "gif"])
    func alpha(kind: String) throws {
        let filter = """
            color=c=green:s=64x48:d=0.1:r=25,format=rgba,\
            geq=r=0:g=200:b=0:a='if(lt(X,32),255,0)'\(kind == "gif" ? ",split[a][b];[a]palettegen[p];[b][p]paletteuse" : "")
            """
        let image = try RasterImage.read(try ImageSample.file(filter, kind, arguments: ["-frames:v", "1"]))
        let overlay = try shown(image)
        #expect(overlay.alpha(x: 10, y: 20) == 255)
        #expect(overlay.alpha(x: 50, y: 20) == 0)
        try expect(overlay, 10, 20, 0, 200, 0, within: 16)
        // Scaling does not draw the hidden colour in.
        let small = try shown(try image.scaled(width: 31, height: 23))
        for x in 0..<31 where small.alpha(x: x, y: 10) > 40 {
            let rgb = try #require(small.colour(x: x, y: 10)).rgb
            #expect(rgb.red < 60 && rgb.blue < 60 && rgb.green > 120)
        }
    }

    @Test("half clear PNG pixels hide half")
    func halfClear() throws {
        let filter = "color=c=white:s=32x32:d=0.1:r=25,format=rgba,geq=r=255:g=255:b=255:a=128"
        let overlay = try shown(
            try RasterImage.read(try ImageSample.file(filter, "png", arguments: ["-frames:v", "1"]))
        )
        #expect(overlay.alpha(x: 16, y: 16) == 128)
        try expect(overlay, 16, 16, 255, 255, 255, within: 3)
    }

    @Test("of a moving image the first frame is shown", arguments: ["gif", "webp"])
    func moving(kind: String) throws {
        let filter = "color=c=red:s=64x48:d=0.4:r=5,format=rgb24,drawbox=t=fill:c=blue:enable='gte(n,1)'"
        let file = try ImageSample.file(
            filter,
            kind,
            arguments: kind == "webp" ? ["-loop", "0", "-lossless", "1"] : []
        )
        let image = try RasterImage.read(file)
        #expect(image.width == 64 && image.height == 48)
        try expect(try shown(image), 30, 20, 255, 0, 0, within: 16)
    }

    @Test(
        "a photograph is the right way up however the camera was held",
        arguments: [
            (1, 0, 0), (2, 95, 0), (3, 95, 63), (4, 0, 63), (5, 0, 0), (6, 63, 0), (7, 63, 95), (8, 0, 95),
        ] as [(UInt8, Int, Int)]
    )
    func orientation(_ orientation: UInt8, x: Int, y: Int) throws {
        // White in the upper left corner alone; the numbers say where that corner belongs.
        let filter = "color=c=blue:s=96x64:d=0.1:r=25,format=gbrp,drawbox=x=0:y=0:w=16:h=16:t=fill:c=white"
        let file = try ImageSample.file(filter, "jpg", arguments: ["-frames:v", "1", "-q:v", "2"])
        let image = try RasterImage.read(ImageSample.turned(file, orientation: orientation))
        #expect([image.width, image.height] == (orientation < 5 ? [96, 64] : [64, 96] as [Int]))
        let overlay = try shown(image)
        for (cornerX, cornerY) in [
            (4, 4), (image.width - 5, 4), (4, image.height - 5), (image.width - 5, image.height - 5),
        ] {
            let isCorner = abs(cornerX - x) < 8 && abs(cornerY - y) < 8
            let colour = try #require(overlay.colour(x: cornerX, y: cornerY))
            #expect((colour.y > 180) == isCorner)
        }
    }

    @Test("covering crops the middle, containing keeps the whole, each in the image's shape")
    func shapes() throws {
        let image = try RasterImage.read(try ImageSample.file(ImageSample.flag, "png", arguments: ["-frames:v", "1"]))
        let cover = try image.covering(width: 40, height: 40)
        #expect(cover.width == 40 && cover.height == 40)
        let shown = try shown(cover)
        try expect(shown, 4, 30, 255, 0, 0)
        try expect(shown, 36, 30, 0, 0, 255)
        try expect(shown, 20, 2, 255, 255, 255)
        let wide = try image.covering(width: 200, height: 20)
        #expect(wide.width == 200 && wide.height == 20)
        let inside = try image.contained(width: 200, height: 32)
        #expect(inside.width == 48 && inside.height == 32)
        #expect(try image.contained(width: 48, height: 200).height == 32)
        #expect(throws: CodecError.self) { try image.covering(width: 0, height: 10) }
        #expect(throws: CodecError.self) { try image.scaled(width: 5000, height: 10) }
    }

    @Test("what is no image, too large or cut short is refused")
    func refused() throws {
        func code(_ file: ByteBuffer) -> CodecError.Code? {
            do throws(CodecError) {
                _ = try RasterImage.read(file)
                return nil
            } catch { return error.code }
        }
        #expect(code(ByteBuffer()) == .unavailable)
        #expect(code(ByteBuffer(string: "<svg xmlns='http://www.w3.org/2000/svg'/>")) == .unavailable)
        #expect(code(ByteBuffer(repeating: 0, count: ImageLimits.bytes + 1)) == .tooLarge)
        let huge = try ImageSample.file("color=c=red:s=5000x16:d=0.1:r=25", "png", arguments: ["-frames:v", "1"])
        #expect(code(huge) != nil)
        let largest = try ImageSample.file("color=c=red:s=4096x4096:d=0.1:r=25", "png", arguments: ["-frames:v", "1"])
        #expect(code(largest) == nil)
        let jpeg = try ImageSample.file(ImageSample.flag, "jpg", arguments: ["-frames:v", "1"])
        var scans = jpeg
        for _ in 0..<100 { scans.writeBytes([0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0]) }
        #expect(code(scans) == .tooLarge)
        // A text that would unpack to gigabytes is never looked at.
        var bomb = try ImageSample.file(ImageSample.flag, "png", arguments: ["-frames:v", "1"])
        let end = try #require(bomb.getSlice(at: bomb.writerIndex - 12, length: 12))
        bomb.moveWriterIndex(to: bomb.writerIndex - 12)
        bomb.writeInteger(UInt32(64))
        bomb.writeString("zTXt")
        bomb.writeRepeatingByte(0x55, count: 68)
        bomb.writeImmutableBuffer(end)
        #expect(code(bomb) == nil)
    }

    @Test("damaged files are refused or drawn as far as they go, and never do harm", arguments: ImageFormat.allCases)
    func damaged(format: ImageFormat) throws {
        let kind = format == .jpeg ? "jpg" : format.rawValue
        let filter = "testsrc2=s=48x32:d=0.2:r=10,format=rgba,geq=r='r(X,Y)':g='g(X,Y)':b='b(X,Y)':a='128+X'"
        let options = kind == "webp" ? ["-loop", "0"] : kind == "gif" ? [] : ["-frames:v", "1"]
        let file = try ImageSample.file(
            kind == "gif" || kind == "jpg" || kind == "bmp" ? "testsrc2=s=48x32:d=0.2:r=10" : filter,
            kind,
            arguments: options
        )
        _ = try RasterImage.read(file)
        var numbers = SeededGenerator(seed: 11)
        var drawn = 0
        for round in 0..<200 {
            var damaged = file
            if round % 3 == 0 { damaged.moveWriterIndex(to: Int.random(in: 1..<file.readableBytes, using: &numbers)) }
            if round % 3 != 0 {
                for _ in 0..<Int.random(in: 1...10, using: &numbers) {
                    // The beginning, which says sizes and kinds, more often than the rest.
                    let span = Bool.random(using: &numbers) ? min(64, damaged.readableBytes) : damaged.readableBytes
                    let index = Int.random(in: 0..<span, using: &numbers)
                    let old = damaged.getInteger(at: index, as: UInt8.self) ?? 0
                    damaged.setInteger(old ^ UInt8.random(in: 1...255, using: &numbers), at: index)
                }
            }
            guard let image = try? RasterImage.read(damaged) else { continue }
            #expect((1...4096).contains(image.width) && (1...4096).contains(image.height))
            drawn += 1
            if image.width * image.height < 1 << 16 { _ = try shown(image) }
        }
        #expect(drawn < 200)
    }
}

/// Image files made by the ffmpeg tool.
enum ImageSample {
    /// Left half red, right half blue, the upper row of quarters white; 96 x 64 pixels.
    static let flag = """
        color=c=red:s=96x64:d=0.1:r=25,format=gbrp,drawbox=x=48:w=48:h=64:t=fill:c=blue,\
        drawbox=x=0:w=96:h=16:t=fill:c=white
        """

    /// What ffmpeg makes of `filter` in the file format of the suffix `kind`.
    static func file(_ filter: String, _ kind: String, arguments: [String]) throws -> ByteBuffer {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("image-\(UUID().uuidString).\(kind)")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", filter] + arguments + ["-y", file.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return ByteBuffer(bytes: try Data(contentsOf: file))
    }

    /// A JPEG file with a camera's note of how it was held (TIFF tag 0x0112), 1 to 8.
    static func turned(_ file: ByteBuffer, orientation: UInt8) -> ByteBuffer {
        var record = ByteBuffer(string: "Exif")
        record.writeBytes([0, 0])
        record.writeString("MM")
        // Magic number, where the only directory is, one entry: the tag, a 16-bit number, one of them, its value.
        record.writeBytes([0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0])
        var (rest, result) = (file, ByteBuffer())
        if var start = rest.readSlice(length: 2) { result.writeBuffer(&start) }
        result.writeBytes([0xFF, 0xE1])
        result.writeInteger(UInt16(record.readableBytes + 2))
        result.writeBuffer(&record)
        result.writeBuffer(&rest)
        return result
    }
}
