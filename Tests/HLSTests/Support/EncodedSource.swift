import Foundation
import Media
import NIOCore

/// A short FLV file encoded by ffmpeg, and its packets.
struct EncodedSource {
    let file: URL
    let packets: [MediaPacket]

    /// Encodes a test pattern, a tone, or both.
    init(
        in folder: URL,
        name: String = "source",
        size: String? = "320x180",
        rate: String = "30",
        seconds: Double = 5,
        keyInterval: Int = 60,
        video: [String] = ["-preset", "ultrafast", "-tune", "zerolatency"],
        sampleRate: Int? = 48_000,
        channels: Int = 2
    ) throws {
        file = folder.appendingPathComponent("\(name).flv")
        var arguments = ["ffmpeg", "-v", "error", "-y"]
        if let size { arguments += ["-f", "lavfi", "-i", "testsrc2=s=\(size):r=\(rate)"] }
        if let sampleRate { arguments += ["-f", "lavfi", "-i", "sine=440:sample_rate=\(sampleRate)"] }
        arguments += ["-t", "\(seconds)"]
        if size != nil {
            arguments += ["-c:v", "libx264"] + video + ["-pix_fmt", "yuv420p", "-threads", "1"]
            arguments += ["-g", "\(keyInterval)", "-x264-params", "keyint=\(keyInterval):scenecut=0"]
        }
        if sampleRate != nil { arguments += ["-c:a", "aac", "-b:a", "64k", "-ac", "\(channels)"] }
        try CommandLineTool.run(arguments + [file.path])
        packets = FLVPackets.packets(in: ByteBuffer(bytes: try Data(contentsOf: file)))
    }

    var frames: [MediaPacket] { packets.filter(\.isVideoFrame) }
    var audioFrames: [MediaPacket] { packets.filter(\.isAudioFrame) }
}

extension MediaPacket {
    var isVideoFrame: Bool {
        if case .video = content { true } else { false }
    }

    var isAudioFrame: Bool {
        if case .audio = content { true } else { false }
    }
}

/// Reads the packets of an FLV file with H.264 and AAC in legacy format.
enum FLVPackets {
    static func packets(in file: ByteBuffer) -> [MediaPacket] {
        var input = file
        input.moveReaderIndex(forwardBy: 13)
        var packets: [MediaPacket] = []
        while let type: UInt8 = input.readInteger(), let length = int24(&input), let low = int24(&input),
            let high: UInt8 = input.readInteger(), input.readSlice(length: 3) != nil,
            let body = input.readSlice(length: length), input.readSlice(length: 4) != nil
        {
            let timestamp = Int64(high) << 24 | Int64(low)
            switch type {
            case 8: packets.append(audioFrame(body, timestamp))
            case 9: packets.append(videoFrame(body, timestamp))
            default: break
            }
        }
        return packets
    }

    private static func audioFrame(_ body: ByteBuffer, _ timestamp: Int64) -> MediaPacket {
        let isConfiguration = body.getInteger(at: body.readerIndex + 1) == UInt8(0)
        return MediaPacket(
            content: isConfiguration ? .audioConfiguration(.aac) : .audio(.aac),
            timestamp: timestamp,
            body: body,
            headerLength: 2
        )
    }

    private static func videoFrame(_ body: ByteBuffer, _ timestamp: Int64) -> MediaPacket {
        var header = body
        let frame: UInt8 = header.readInteger() ?? 0
        let type: UInt8 = header.readInteger() ?? 0
        let composition = Int32(int24(&header) ?? 0)
        let content: MediaPacket.Content =
            switch type {
            case 0: .videoConfiguration(.h264)
            case 1: .video(.h264, isKey: frame >> 4 == 1, isDisposable: frame >> 4 == 3)
            default: .videoEnd
            }
        return MediaPacket(
            content: content,
            timestamp: timestamp,
            compositionOffset: composition >= 0x80_0000 ? composition - 0x100_0000 : composition,
            body: body,
            headerLength: 5
        )
    }

    private static func int24(_ input: inout ByteBuffer) -> Int? {
        guard let bytes = input.readBytes(length: 3) else { return nil }
        return Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    }
}
