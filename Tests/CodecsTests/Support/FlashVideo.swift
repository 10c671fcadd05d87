import Codecs
import Foundation
import Media
import NIOCore
import Testing

/// Media made by the ffmpeg tool as an FLV file, as the packets a host would send.
struct FlashVideo {
    let packets: [MediaPacket]

    /// Runs ffmpeg with `arguments` (inputs and codecs) and reads what it wrote.
    init(_ arguments: String...) throws {
        try self.init(options: arguments)
    }

    /// The same with the arguments in an array.
    init(options arguments: [String]) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("codecs-\(UUID().uuidString).flv")
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["ffmpeg", "-nostdin", "-v", "error"] + arguments + ["-f", "flv", file.path]
        try process.run()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        packets = try Self.read(ByteBuffer(bytes: Data(contentsOf: file)))
    }

    var videoConfiguration: MediaPacket {
        get throws { try #require(packets.first { $0.content == .videoConfiguration(.h264) }) }
    }

    var audioConfiguration: MediaPacket? { packets.first { $0.content == .audioConfiguration(.aac) } }

    var frames: [MediaPacket] {
        packets.filter { if case .video = $0.content { true } else { false } }
    }

    var audioPackets: [MediaPacket] {
        packets.filter { if case .audio = $0.content { true } else { false } }
    }

    private static func read(_ file: ByteBuffer) throws -> [MediaPacket] {
        var file = file
        var packets: [MediaPacket] = []
        _ = file.readBytes(length: 13)
        while let kind: UInt8 = file.readInteger() {
            let size = Int(try readThreeBytes(&file))
            let low = try readThreeBytes(&file)
            let extended = file.readInteger(as: UInt8.self)
            _ = file.readBytes(length: 3)
            let slice = file.readSlice(length: size)
            _ = file.readBytes(length: 4)
            let body = try #require(slice)
            let timestamp = Int64(UInt32(try #require(extended)) << 24 | low)
            if let packet = packet(kind: kind, body, timestamp) { packets.append(packet) }
        }
        return packets
    }

    private static func readThreeBytes(_ file: inout ByteBuffer) throws -> UInt32 {
        let (high, low) = (file.readInteger(as: UInt8.self), file.readInteger(as: UInt16.self))
        return UInt32(try #require(high)) << 16 | UInt32(try #require(low))
    }

    private static func packet(kind: UInt8, _ body: ByteBuffer, _ timestamp: Int64) -> MediaPacket? {
        guard let bytes = body.getBytes(at: body.readerIndex, length: min(5, body.readableBytes)), bytes.count >= 2
        else {
            return nil
        }
        switch kind {
        case 8 where bytes[0] >> 4 == 10:
            let content: MediaPacket.Content = bytes[1] == 0 ? .audioConfiguration(.aac) : .audio(.aac)
            return MediaPacket(content: content, timestamp: timestamp, body: body, headerLength: 2)
        case 8 where bytes[0] >> 4 == 2:
            return MediaPacket(content: .audio(.mp3), timestamp: timestamp, body: body, headerLength: 1)
        case 9 where bytes[0] & 15 == 7 && bytes.count == 5 && bytes[1] < 2:
            let isKey = bytes[0] >> 4 == 1
            let offset = Int32(bitPattern: UInt32(bytes[2]) << 24 | UInt32(bytes[3]) << 16 | UInt32(bytes[4]) << 8) >> 8
            return MediaPacket(
                content: bytes[1] == 0
                    ? .videoConfiguration(.h264) : .video(.h264, isKey: isKey, isDisposable: false),
                timestamp: timestamp,
                compositionOffset: offset,
                body: body,
                headerLength: 5
            )
        default:
            return nil
        }
    }
}

/// Every frame that decoding all of `packets` gives.
func decodedFrames(of packets: [MediaPacket], configuration: MediaPacket) throws -> [VideoFrame] {
    var decoder = try VideoDecoder(configuration: configuration)
    var frames: [VideoFrame] = []
    for packet in packets {
        try decoder.decode(packet) { frames.append($0) }
    }
    decoder.flush { frames.append($0) }
    return frames
}

/// `frame` at its own size (rounded down to even), in the program's colours.
func canvas(showing frame: VideoFrame) throws -> Canvas {
    let canvas = try Canvas(width: frame.width & ~1, height: frame.height & ~1)
    try canvas.draw(frame, in: canvas.bounds)
    return canvas
}

/// Measures and makes pure tones.
enum Tone {
    /// The amplitude of `frequency` in `samples`, by the Goertzel algorithm.
    static func amplitude(of frequency: Double, in samples: some Collection<Float>, rate: Double = 48_000) -> Double {
        let coefficient = 2 * cos(2 * Double.pi * frequency / rate)
        var (previous, beforePrevious) = (0.0, 0.0)
        for sample in samples {
            (previous, beforePrevious) = (Double(sample) + coefficient * previous - beforePrevious, previous)
        }
        let power = previous * previous + beforePrevious * beforePrevious - coefficient * previous * beforePrevious
        return 2 * power.squareRoot() / Double(samples.count)
    }

    /// Sample number `index` of a tone of amplitude 0.5 at 48 kHz.
    static func sample(_ index: Int, frequency: Double) -> Float {
        Float(0.5 * sin(2 * Double.pi * frequency * Double(index) / 48_000))
    }
}
