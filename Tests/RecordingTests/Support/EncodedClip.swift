import Media
import NIOCore
import TestSupport

/// Short programs to record, encoded once.
enum EncodedClip {
    /// Seven seconds in red with a tone of 440 Hz and a keyframe interval of two seconds.
    static let red = Task { try await make(Colour(red: 200, green: 20, blue: 20), width: 320, tone: 440) }
    /// Like `red` with another size and thus another decoder configuration.
    static let wide = Task { try await make(Colour(red: 20, green: 20, blue: 200), width: 480, tone: 880) }

    private static func make(_ colour: Colour, width: Int, tone: Double) async throws -> [MediaPacket] {
        var video = HostVideoScript(colour)
        video.width = width
        video.height = 180
        video.bitRate = 300
        let folder = try TemporaryFolder("clip")
        let script = HostScript(video: video, audio: .tone(tone))
        try await FFmpeg.encode(script, seconds: 7, to: folder.file("clip.flv"))
        return try FLVFile(path: folder.file("clip.flv")).packets
    }
}

/// Packets with the structure of a program and dummy media.
enum SyntheticPackets {
    /// A record of 320x180 as written by libx264, and AAC at 48 kHz stereo.
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

    /// Returns video at 30 fps with a keyframe every two seconds and no audio.
    static func packets(seconds: Int, frameBytes: Int) -> [MediaPacket] {
        configurations
            + (0..<seconds * 30).map { index in
                frame(at: Int64(index) * 1000 / 30, isKey: index % 60 == 0, bytes: frameBytes)
            }
    }

    static func frame(at timestamp: Int64, isKey: Bool, bytes: Int) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: bytes) { body in
            body.writeInteger(UInt32(bytes - 4))
            body.writeInteger(UInt8(isKey ? 0x65 : 0x41))
            body.writeRepeatingByte(0x80, count: bytes - 5)
        }
    }
}
