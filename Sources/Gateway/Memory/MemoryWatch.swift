/// Says when memory runs short, and when it no longer does.
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
}
