import Media
import NIOCore

/// Packets with real configurations and made-up media, for tests that never decode.
enum SyntheticProgram {
    /// 638x358, Constrained Baseline, level 3.0, 30 pictures a second, BT.709: made by x264.
    static let avcRecord: [UInt8] = [
        0x01, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0x00, 0x1C, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xBF, 0xA9, 0xB0,
        0x16, 0xA0, 0x20, 0x20, 0x28, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00, 0x03, 0x01, 0xE4, 0x78, 0xB1, 0x75,
        0x01, 0x00, 0x04, 0x68, 0xCE, 0x0F, 0xC8,
    ]

    static let videoConfiguration = MediaPacket.h264Configuration(ByteBuffer(bytes: avcRecord), timestamp: 0)
    /// AAC-LC, 48 kHz, stereo.
    static let audioConfiguration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)

    static func picture(_ timestamp: Int64, isKey: Bool = false, bytes: Int = 100) -> MediaPacket {
        .h264Picture(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: bytes + 4) {
            $0.writeInteger(UInt32(bytes))
            $0.writeInteger(UInt8(isKey ? 0x65 : 0x41))
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: bytes - 1)
        }
    }

    static func sound(_ timestamp: Int64, bytes: Int = 20) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: bytes) {
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: bytes)
        }
    }

    /// Pictures and sounds in feed order.
    ///
    /// - Parameters:
    ///   - pictures: How many, 25 a second; 0 for a program without video.
    ///   - group: Pictures from one key picture to the next.
    static func program(
        from start: Int64 = 0,
        pictures: Int,
        group: Int = 50,
        withSound: Bool = true,
        withConfiguration: Bool = true
    ) -> [MediaPacket] {
        var packets = (0..<pictures).map { picture(start + Int64($0) * 40, isKey: $0 % group == 0) }
        if withSound {
            let count = Int64(pictures) * 40 * 48 / 1024
            packets += (0..<count).map { sound(start + $0 * 1024 / 48) }
        }
        // A stable sort: of two packets with one time the picture comes first.
        packets = packets.enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
        guard withConfiguration else { return packets }
        return [videoConfiguration] + (withSound ? [audioConfiguration] : []) + packets
    }

    /// Sounds alone, for `seconds`.
    static func sounds(from start: Int64 = 0, seconds: Double) -> [MediaPacket] {
        (0..<Int64(seconds * 48_000 / 1024)).map { sound(start + $0 * 1024 / 48) }
    }
}
