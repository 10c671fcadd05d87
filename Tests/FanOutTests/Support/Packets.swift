import Media
import NIOCore

/// Packets with a real configuration and synthetic media, for tests without a decoder.
enum Packets {
    /// 638x358, Constrained Baseline, level 3.0, 30 fps: encoded by x264.
    static let avcRecord: [UInt8] = [
        0x01, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0x00, 0x1C, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xBF, 0xA9, 0xB0,
        0x16, 0xA0, 0x20, 0x20, 0x28, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00, 0x03, 0x01, 0xE4, 0x78, 0xB1, 0x75,
        0x01, 0x00, 0x04, 0x68, 0xCE, 0x0F, 0xC8,
    ]

    static func video(_ timestamp: Int64 = 0) -> MediaPacket {
        .h264Configuration(ByteBuffer(bytes: avcRecord), timestamp: timestamp)
    }

    /// AAC-LC, 48 kHz, stereo unless other bytes are given.
    static func audio(_ timestamp: Int64 = 0, _ bytes: [UInt8] = [0x11, 0x90]) -> MediaPacket {
        .aacConfiguration(ByteBuffer(bytes: bytes), timestamp: timestamp)
    }

    static func metadata(_ timestamp: Int64 = 0) -> MediaPacket {
        let body = ByteBuffer(bytes: [0x02, 0x00, 0x0A] + "onMetaData".utf8 + [0x08, 0, 0, 0, 0, 0, 0, 9])
        return MediaPacket(content: .metadata, timestamp: timestamp, body: body, headerLength: 0)
    }

    static func key(_ timestamp: Int64, bytes: Int = 100) -> MediaPacket {
        frame(timestamp, isKey: true, bytes: bytes)
    }

    static func frame(_ timestamp: Int64, isKey: Bool = false, bytes: Int = 100) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: bytes + 4) {
            $0.writeInteger(UInt32(bytes))
            $0.writeInteger(UInt8(isKey ? 0x65 : 0x41))
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: bytes - 1)
        }
    }

    static func audioFrame(_ timestamp: Int64) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: 20) {
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: 20)
        }
    }

    /// A program with 25 fps, a keyframe every second, and audio.
    static func program(from start: Int64 = 0, seconds: Int) -> [MediaPacket] {
        var packets = (0..<seconds * 25).map { frame(start + Int64($0) * 40, isKey: $0 % 25 == 0) }
        packets += (0..<Int64(seconds * 48_000 / 1024)).map { audioFrame(start + $0 * 1024 / 48) }
        packets = packets.enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
        return [video(start), audio(start)] + packets
    }
}
