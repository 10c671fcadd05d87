import Codecs
import Media
import NIOCore
import TestSupport
import Testing

@Suite("Coding the program's frame", .enabled(if: TestRun.isFull))
struct VideoEncoderTests {
    /// Codes `count` frames of a moving bar; the time of each is `time(index)`.
    private func encode(
        _ settings: VideoEncoderConfiguration,
        count: Int64,
        from first: Int64 = 0,
        forceKeyAt: Set<Int64> = [],
        time: (Int64) -> Int64
    ) throws -> (configuration: ByteBuffer, packets: [MediaPacket]) {
        var encoder = try VideoEncoder(settings)
        let canvas = try Canvas(width: settings.width, height: settings.height)
        var random = SeededGenerator(seed: 7)
        var packets: [MediaPacket] = []
        for index in first..<first + count {
            for y in stride(from: 0, to: canvas.height, by: 16) {
                let shade = UInt8.random(in: 16...235, using: &random)
                let x = Int(index * 8) % canvas.width
                let bar = PixelRectangle(x: x, y: y, width: 64, height: 16)
                canvas.fill(bar, YUVColour(y: shade, u: 100, v: 150))
            }
            try encoder.encode(
                canvas,
                index: index,
                timestamp: time(index),
                forceKey: forceKeyAt.contains(index)
            ) { packets.append($0) }
        }
        return (encoder.configuration, packets)
    }

    private static let small = VideoEncoderConfiguration(width: 640, height: 360, bitrate: 1_000_000)

    @Test("the configuration is a Main profile record with its size, and says BT.709, limited")
    func configuration() throws {
        let encoder = try VideoEncoder(VideoEncoderConfiguration())
        let record = try AVCConfiguration(encoder.configuration)
        #expect(record.profile == 77)
        #expect(record.nalLengthSize == 4)
        #expect(record.sps.width == 1280 && record.sps.height == 720)
        #expect(record.pictureParameterSets.count == 1)
        let packet = MediaPacket.h264Configuration(encoder.configuration, timestamp: 0)
        _ = try VideoDecoder(configuration: packet)
    }

    @Test(
        "The usual preset searches less than is usual for it, any other just as much as its name says",
        arguments: ["ultrafast", "superfast", "veryfast", "faster", "fast", "medium"]
    )
    func effort(preset: String) throws {
        func coded(_ options: String?) throws -> [ByteBuffer] {
            let settings = VideoEncoderConfiguration(
                width: 640,
                height: 360,
                bitrate: 1_000_000,
                preset: preset,
                options: options
            )
            return try encode(settings, count: 12) { $0 * 33 }.packets.map(\.body)
        }
        let (usual, own, less) = (try coded(nil), try coded(""), try coded(VideoEncoderConfiguration.usualOptions))
        #expect(own != less && usual == (preset == "veryfast" ? less : own))
    }

    @Test("keyframes come exactly each two seconds, at 30 and at 29.97 frames a second")
    func groups() throws {
        for (numerator, denominator) in [(30, 1), (30_000, 1001)] {
            var settings = Self.small
            settings.frameRateNumerator = numerator
            settings.frameRateDenominator = denominator
            let (_, packets) = try encode(settings, count: 181) { $0 * 1000 * Int64(denominator) / Int64(numerator) }
            #expect(packets.count == 181)
            #expect(packets.indices.filter { packets[$0].isKeyframe } == [0, 60, 120, 180])
            for (index, packet) in packets.enumerated() {
                #expect(packet.timestamp == Int64(index) * 1000 * Int64(denominator) / Int64(numerator))
                #expect(packet.compositionOffset == 0)
            }
        }
    }

    @Test("an encoder that takes over keeps to the grid of keyframes; a forced one does not move it")
    func keyGrid() throws {
        let (_, packets) = try encode(Self.small, count: 130, from: 1_000_030, forceKeyAt: [1_000_050]) { $0 }
        let keys = packets.filter(\.isKeyframe).map(\.timestamp)
        #expect(keys == [1_000_030, 1_000_050, 1_000_080, 1_000_140])
    }

    @Test("frames are length-prefixed NAL units without parameter sets, delimiters or the encoder's own notes")
    func framing() throws {
        let (_, packets) = try encode(Self.small, count: 61) { $0 * 33 }
        for packet in packets {
            var payload = packet.payload
            var kinds: [UInt8] = []
            while let length: UInt32 = payload.readInteger() {
                let slice = payload.readSlice(length: Int(length))
                let unit = try #require(slice)
                let header = try #require(unit.getInteger(at: unit.readerIndex, as: UInt8.self))
                kinds.append(header & 0x1F)
                if header & 0x1F == 6 {
                    #expect(unit.getInteger(at: unit.readerIndex + 1, as: UInt8.self) != 5)
                }
            }
            #expect(payload.readableBytes == 0)
            #expect(Set(kinds).isSubset(of: [1, 5, 6, 12]))
            #expect(kinds.contains(5) == packet.isKeyframe)
        }
    }

    @Test("the rate is constant within a tenth, for noise and for a still frame alike")
    func constantRate() throws {
        let (_, moving) = try encode(Self.small, count: 180) { $0 * 33 }
        var encoder = try VideoEncoder(Self.small)
        let still = try Canvas(width: 640, height: 360)
        var quiet: [MediaPacket] = []
        for index in Int64(0)..<180 {
            try encoder.encode(still, index: index, timestamp: index * 33, forceKey: false) { quiet.append($0) }
        }
        for packets in [moving, quiet] {
            // Without the first second, in which the buffer fills.
            let bits = packets[30...].map { $0.payload.readableBytes * 8 }.reduce(0, +)
            let rate = Double(bits) / 5
            #expect((900_000...1_100_000).contains(rate), "\(rate) bits per second")
        }
    }

    @Test("what was drawn is what a decoder shows, in every frame, with its time")
    func roundTrip() throws {
        var encoder = try VideoEncoder(Self.small)
        let canvas = try Canvas(width: 640, height: 360)
        let colours: [(UInt8, UInt8, UInt8)] = [(220, 40, 30), (20, 200, 60), (30, 60, 210), (240, 240, 230)]
        for (index, colour) in colours.enumerated() {
            let tile = PixelRectangle(x: index % 2 * 320, y: index / 2 * 180, width: 320, height: 180)
            canvas.fill(tile, YUVColour(red: colour.0, green: colour.1, blue: colour.2))
        }
        var packets: [MediaPacket] = []
        for index in Int64(0)..<10 {
            try encoder.encode(canvas, index: index, timestamp: 5000 + index * 40, forceKey: false) {
                packets.append($0)
            }
        }
        let configuration = MediaPacket.h264Configuration(encoder.configuration, timestamp: 0)
        let shown = try decodedFrames(of: packets, configuration: configuration)
        #expect(shown.map(\.presentationTimestamp) == (0..<10).map { 5000 + $0 * 40 })
        for frame in shown {
            #expect(frame.matrix == .bt709 && !frame.isFullRange)
            let result = try CodecsTests.canvas(showing: frame)
            for (index, colour) in colours.enumerated() {
                let inner = PixelRectangle(x: index % 2 * 320 + 32, y: index / 2 * 180 + 32, width: 256, height: 116)
                let error = distance(
                    result.averageColour(of: inner),
                    red: colour.0,
                    green: colour.1,
                    blue: colour.2
                )
                #expect(error <= 4)
            }
        }
    }

    @Test("the canvas can be painted again at once, and the frame before stays what it was")
    func canvasReuse() throws {
        var encoder = try VideoEncoder(Self.small)
        let canvas = try Canvas(width: 640, height: 360)
        var packets: [MediaPacket] = []
        for index in Int64(0)..<20 {
            canvas.fill(canvas.bounds, YUVColour(y: UInt8(20 + index * 10), u: 128, v: 128))
            try encoder.encode(canvas, index: index, timestamp: index, forceKey: false) { packets.append($0) }
            canvas.fill(canvas.bounds, .black)
        }
        let configuration = MediaPacket.h264Configuration(encoder.configuration, timestamp: 0)
        for (index, frame) in try decodedFrames(of: packets, configuration: configuration).enumerated() {
            let luma = try CodecsTests.canvas(showing: frame).luma(x: 320, y: 180)
            #expect(abs(Int(luma) - (20 + index * 10)) <= 3)
        }
    }

    @Test("a number that does not rise and a canvas of another size are refused, and the encoder goes on")
    func refusals() throws {
        var encoder = try VideoEncoder(Self.small)
        let canvas = try Canvas(width: 640, height: 360)
        var count = 0
        try encoder.encode(canvas, index: 5, timestamp: 0, forceKey: false) { _ in count += 1 }
        let order = #expect(throws: CodecError.self) {
            try encoder.encode(canvas, index: 5, timestamp: 0, forceKey: false) { _ in }
        }
        #expect(order?.code == .outOfOrder)
        let other = try Canvas(width: 320, height: 360)
        #expect(throws: CodecError.self) {
            try encoder.encode(other, index: 6, timestamp: 0, forceKey: false) { _ in }
        }
        try encoder.encode(canvas, index: 90, timestamp: 3000, forceKey: false) { _ in count += 1 }
        #expect(count == 2)
    }
}
