import Foundation
import Media
import NIOCore

/// A small FLV file that ffmpeg made, and the same as packets.
struct Recording {
    let file: URL
    let packets: [MediaPacket]

    /// Encodes a test picture, a tone, or both.
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
        try Command.run(arguments + [file.path])
        packets = FLVWalk.packets(in: ByteBuffer(bytes: try Data(contentsOf: file)))
    }

    var pictures: [MediaPacket] { packets.filter(\.isPicture) }
    var sounds: [MediaPacket] { packets.filter(\.isSound) }
}

extension MediaPacket {
    var isPicture: Bool {
        if case .picture = content { true } else { false }
    }

    var isSound: Bool {
        if case .sound = content { true } else { false }
    }
}
