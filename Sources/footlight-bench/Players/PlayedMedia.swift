import FootlightTesting
import Foundation

/// What a player has decoded, as its files tell.
struct PlayedMedia {
    /// Stills that are no single colour, and the number of all.
    var pictures = (good: 0, all: 0)
    /// Mean level of the sound in dB below full scale; nil without sound.
    var level: Double?
    /// Seconds from its beginning to the first picture; nil when that is not known.
    var join: Double?
    /// Milliseconds from the moments in pictures until the player had them decoded.
    var ages = Samples()

    /// A still of one colour, black among them, spreads by less.
    private static let leastSpread = 10.0

    /// Reads the folder of a player.
    ///
    /// - Parameters:
    ///   - start: When the player began; nil when the stills were made afterwards.
    ///   - step: Of so many stills one is looked at.
    init(in folder: String, since start: Date?, every step: Int = 1) async throws {
        let stills = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".png") }
            .sorted()
        for still in stride(from: 0, to: stills.count, by: max(step, 1)).map({ stills[$0] }) {
            pictures.all += 1
            if let spread = try? await Self.spread(of: "\(folder)/\(still)"), spread > Self.leastSpread {
                pictures.good += 1
            }
            guard let start, let written = try Self.date(of: "\(folder)/\(still)") else { continue }
            join = join ?? written.timeIntervalSince(start)
            if let code = try? await TimeCode.read(file: "\(folder)/\(still)") {
                ages.add(TimeCode.age(of: code, at: written))
            }
        }
        if FileManager.default.fileExists(atPath: "\(folder)/sound.wav") {
            level = try await Self.level(of: "\(folder)/sound.wav")
        }
    }

    /// - Parameters:
    ///   - pictures: Frames decoded, all of them taken for good.
    init(pictures: Int, level: Double?, join: Double, ages: Samples) {
        self.pictures = (pictures, pictures)
        self.level = level
        self.join = join
        self.ages = ages
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

    private static func date(of file: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: file)[.modificationDate] as? Date
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
