import Foundation
import NIOCore

/// Sound files as ffmpeg writes them.
enum SoundFile {
    /// The file that ffmpeg makes of a source of its filters, `aevalsrc=...`.
    static func make(_ source: String, _ arguments: [String], suffix: String) throws -> ByteBuffer {
        let path = NSTemporaryDirectory() + "sound-\(UUID().uuidString).\(suffix)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["ffmpeg", "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source] + arguments + [path]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.fileReadCorruptFile) }
        return ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    /// A second of a tone of both channels; `amplitude` is of full scale.
    static func tone(
        _ frequency: Int,
        amplitude: Double = 0.5,
        seconds: Int = 1,
        rate: Int = 48_000,
        _ arguments: [String] = ["-c:a", "pcm_s16le"],
        suffix: String = "wav"
    ) throws -> ByteBuffer {
        let wave = "\(amplitude)*sin(2*PI*\(frequency)*t)"
        return try make("aevalsrc=\(wave)|\(wave):s=\(rate):d=\(seconds)", arguments, suffix: suffix)
    }
}
