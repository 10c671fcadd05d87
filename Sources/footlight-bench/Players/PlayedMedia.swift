import FootlightTesting
import Foundation

/// What a player has decoded, as its files tell.
struct PlayedMedia {
    /// Stills that are no single colour, and the number of all.
    var pictures = (good: 0, all: 0)
    /// Mean level of the sound in dB below full scale; nil without sound.
    var level: Double?

    /// A still of one colour, black among them, spreads by less.
    private static let leastSpread = 10.0

    /// Reads the folder of a player.
    init(in folder: String) async throws {
        let stills = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }
            .sorted()
        for still in stills {
            pictures.all += 1
            if let spread = try? await Self.spread(of: "\(folder)/\(still)"), spread > Self.leastSpread {
                pictures.good += 1
            }
        }
        if FileManager.default.fileExists(atPath: "\(folder)/sound.wav") {
            level = try await Self.level(of: "\(folder)/sound.wav")
        }
    }

    /// - Parameters:
    ///   - pictures: Frames decoded, all of them taken for good.
    init(pictures: Int, level: Double?) {
        self.pictures = (pictures, pictures)
        self.level = level
    }

    /// Decodes a recording into stills and sound.
    static func decode(_ recording: String, to folder: String) async throws {
        let pictures = [
            "-map", "0:v", "-vf", "fps=\(PlayerTrial.stillsPerSecond),scale=640:-2", "\(folder)/still%03d.png",
        ]
        try await ChildProcess.run(
            ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", recording] + pictures
                + ["-map", "0:a", "\(folder)/sound.wav"],
            within: .seconds(30)
        )
    }

    /// The standard deviation of the brightness, 0 to 128.
    static func spread(of picture: String) async throws -> Double {
        let folder = try TemporaryFolder("still")
        try await ChildProcess.run(
            [
                "ffmpeg", "-nostdin", "-loglevel", "error", "-i", picture, "-vf", "scale=64:36,format=gray",
                "-f", "rawvideo", folder.file("raw"),
            ],
            within: .seconds(10)
        )
        let bytes = (FileManager.default.contents(atPath: folder.file("raw")) ?? Data()).map { Double($0) }
        guard !bytes.isEmpty else { return 0 }
        let mean = bytes.reduce(0, +) / Double(bytes.count)
        return (bytes.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(bytes.count)).squareRoot()
    }

    private static func level(of sound: String) async throws -> Double? {
        let meter = try ChildProcess([
            "ffmpeg", "-nostdin", "-hide_banner", "-i", sound, "-af", "volumedetect", "-f", "null", "-",
        ])
        _ = try await meter.wait(.seconds(10))
        let said = meter.standardError.firstMatch(of: /mean_volume: (-?[0-9.]+) dB/)
        return said.flatMap { Double($0.output.1) }
    }
}
