import Media
import NIOCore

/// Packets that look like a program from the outside; nobody could decode them.
enum Programme {
    /// A record of 320x180 as libx264 writes it, and AAC of 48 kHz stereo.
    static let configurations: [MediaPacket] = [
        .h264Configuration(
            ByteBuffer(bytes: [
                1, 0x4D, 0x40, 0x0D, 0xFF, 0xE1, 0, 0x16, 0x67, 0x4D, 0x40, 0x0D, 0xEC, 0xA0, 0xA0, 0xCF, 0xCF, 0x80,
                0xB5, 1, 1, 1, 0x40, 0, 0, 3, 0, 0x40, 0, 0, 1, 0, 4, 0x68, 0xEF, 0x2C, 0x8B,
            ]),
            timestamp: 0
        ),
        .aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0),
    ]

    /// Thirty pictures a second with a key picture every two, and no sound.
    static func packets(seconds: Int, pictureBytes: Int) -> [MediaPacket] {
        configurations
            + (0..<seconds * 30).map { index in
                picture(at: Int64(index) * 1000 / 30, isKey: index % 60 == 0, bytes: pictureBytes)
            }
    }

    static func picture(at timestamp: Int64, isKey: Bool, bytes: Int) -> MediaPacket {
        .h264Picture(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: bytes) { body in
            body.writeInteger(UInt32(bytes - 4))
            body.writeInteger(UInt8(isKey ? 0x65 : 0x41))
            body.writeRepeatingByte(0x80, count: bytes - 5)
        }
    }
}
