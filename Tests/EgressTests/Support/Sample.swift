import Foundation
import Media
import NIOCore

/// A few seconds of moving picture and tone, made once by ffmpeg: 640x360 at 30 pictures a second, key every second.
struct Sample: Sendable {
    let packets: [MediaPacket]
    /// One hash for each decoded picture.
    let pictures: [String]

    static let shared = Result { try Sample(seconds: 6) }

    private init(seconds: Int) throws {
        let folder = try TemporaryFolder()
        let file = folder.path("sample.flv")
        try Tool.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=30", "-f", "lavfi", "-i",
                "sine=frequency=440:sample_rate=48000", "-t", "\(seconds)", "-c:v", "libx264", "-preset", "ultrafast",
                "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-g", "30", "-sc_threshold", "0", "-b:v", "2500k",
                "-minrate", "2500k", "-maxrate", "2500k", "-bufsize", "2500k", "-nal-hrd", "cbr", "-c:a",
                "aac", "-b:a", "96k", "-f", "flv", file,
            ]
        )
        packets = try FLVFile.read(file)
        pictures = try Self.hashes(of: file)
    }

    static func hashes(of file: String) throws -> [String] {
        try Tool.run("ffmpeg", ["-v", "error", "-i", file, "-map", "0:v", "-f", "framemd5", "-"])
            .split(separator: "\n").filter { !$0.hasPrefix("#") }
            .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
    }
}
