import Media
import NIOCore

/// Packets with real configurations and dummy media, for tests that do not decode.
enum SyntheticProgram {
    /// An x264 record: 638x358, Constrained Baseline, level 3.0, 30 fps, BT.709.
    static let avcRecord: [UInt8] = [
        0x01, 0x42, 0xC0, 0x1E, 0xFF, 0xE1, 0x00, 0x1C, 0x67, 0x42, 0xC0, 0x1E, 0xDA, 0x02, 0x80, 0xBF, 0xA9, 0xB0,
        0x16, 0xA0, 0x20, 0x20, 0x28, 0x00, 0x00, 0x03, 0x00, 0x08, 0x00, 0x00, 0x03, 0x01, 0xE4, 0x78, 0xB1, 0x75,
        0x01, 0x00, 0x04, 0x68, 0xCE, 0x0F, 0xC8,
    ]

    static let videoConfiguration = MediaPacket.h264Configuration(ByteBuffer(bytes: avcRecord), timestamp: 0)
    /// AAC-LC, 48 kHz, stereo.
    static let audioConfiguration = MediaPacket.aacConfiguration(ByteBuffer(bytes: [0x11, 0x90]), timestamp: 0)

    static func videoFrame(_ timestamp: Int64, isKey: Bool = false, bytes: Int = 100) -> MediaPacket {
        .h264Frame(isKey: isKey, isDisposable: false, timestamp: timestamp, capacity: bytes + 4) {
            $0.writeInteger(UInt32(bytes))
            $0.writeInteger(UInt8(isKey ? 0x65 : 0x41))
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: bytes - 1)
        }
    }

    static func audioFrame(_ timestamp: Int64, bytes: Int = 20) -> MediaPacket {
        .aacFrame(timestamp: timestamp, capacity: bytes) {
            $0.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: bytes)
        }
    }

    /// Returns audio and video in feed order.
    ///
    /// - Parameters:
    ///   - frames: The number of video frames at 25 fps; 0 for an audio-only program.
    ///   - gop: The keyframe interval in frames.
    static func program(
        from start: Int64 = 0,
        frames: Int,
        gop: Int = 50,
        withAudio: Bool = true,
        withConfiguration: Bool = true
    ) -> [MediaPacket] {
        var packets = (0..<frames).map { videoFrame(start + Int64($0) * 40, isKey: $0 % gop == 0) }
        if withAudio {
            let count = Int64(frames) * 40 * 48 / 1024
            packets += (0..<count).map { audioFrame(start + $0 * 1024 / 48) }
        }
        // A stable sort: of two packets with one time, video precedes audio.
        packets = packets.enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
        guard withConfiguration else { return packets }
        return [videoConfiguration] + (withAudio ? [audioConfiguration] : []) + packets
    }

    /// Returns audio only, for `seconds`.
    static func audioFrames(from start: Int64 = 0, seconds: Double) -> [MediaPacket] {
        (0..<Int64(seconds * 48_000 / 1024)).map { audioFrame(start + $0 * 1024 / 48) }
    }
}

extension SyntheticProgram {
    /// Returns video at any frame rate with whole-millisecond timestamps, and audio.
    ///
    /// - Parameters:
    ///   - rate: Frames per second.
    ///   - interval: The keyframe interval in seconds.
    static func frames(
        from start: Int64 = 0,
        rate: Double,
        seconds: Double,
        keyInterval interval: Double = 2
    ) -> [MediaPacket] {
        let gop = max(1, Int((interval * rate).rounded()))
        var packets = (0..<Int(seconds * rate)).map { number in
            videoFrame(start + Int64((Double(number) * 1000 / rate).rounded()), isKey: number % gop == 0)
        }
        packets += audioFrames(from: start, seconds: seconds)
        packets = packets.enumerated().sorted { ($0.element.timestamp, $0.offset) < ($1.element.timestamp, $1.offset) }
            .map(\.element)
        return [videoConfiguration, audioConfiguration] + packets
    }
}
