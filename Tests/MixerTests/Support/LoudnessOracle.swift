import Foundation

/// What ffmpeg's measure of loudness says of sound.
struct LoudnessOracle {
    /// LUFS of the whole, gated.
    let integrated: Double
    /// dBTP of the louder channel.
    let truePeak: Double

    private struct NoAnswer: Error {}

    /// Measures `left` and `right`, 48 kHz, with the filter `ebur128`.
    init(left: [Float], right: [Float]) throws {
        let path = NSTemporaryDirectory() + "loudness-\(UUID().uuidString).f32"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var samples: [Float] = []
        samples.reserveCapacity(2 * left.count)
        for index in left.indices {
            samples.append(left[index])
            samples.append(right[index])
        }
        try samples.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: path))
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-f", "f32le", "-ar", "48000", "-ac", "2", "-i", path,
            "-af", "ebur128=peak=true:framelog=verbose", "-f", "null", "-",
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let summary = text.components(separatedBy: "Summary:").last ?? ""
        guard let integrated = Self.value(after: "I:", in: summary),
            let truePeak = Self.value(after: "Peak:", in: summary)
        else { throw NoAnswer() }
        self.integrated = integrated
        self.truePeak = truePeak
    }

    private static func value(after word: String, in text: String) -> Double? {
        guard let place = text.range(of: word) else { return nil }
        return text[place.upperBound...].split(whereSeparator: \.isWhitespace).first.flatMap { Double($0) }
    }
}
