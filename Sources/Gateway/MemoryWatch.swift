import Foundation

/// Says when the machine's memory runs short, and when it no longer does.
struct MemoryWatch {
    /// Above this part in use nobody new is let in; below the lower one they are again.
    private static let watermark = (high: 0.80, low: 0.75)

    private var isShort = false

    /// Takes a reading, the part of memory in use from 0 to 1.
    ///
    /// - Returns: The new judgement; nil while it stays what it was.
    mutating func note(_ used: Double) -> Bool? {
        let judgement = used > (isShort ? Self.watermark.low : Self.watermark.high)
        guard judgement != isShort else { return nil }
        isShort = judgement
        return judgement
    }

    /// The part of the machine's memory that is in use now; nil where the system does not say.
    static func usedPart() -> Double? {
        guard let data = FileManager.default.contents(atPath: "/proc/meminfo") else { return nil }
        return usedPart(meminfo: String(decoding: data, as: UTF8.self))
    }

    /// Reads `MemTotal` and `MemAvailable` of /proc/meminfo.
    static func usedPart(meminfo: String) -> Double? {
        var values: [Substring: Double] = [:]
        for line in meminfo.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count >= 2, let value = Double(words[1]) else { continue }
            values[words[0]] = value
        }
        guard let total = values["MemTotal:"], let available = values["MemAvailable:"], total > 0 else { return nil }
        return 1 - available / total
    }
}
