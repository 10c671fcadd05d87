/// Extends a peer's 32-bit millisecond timestamps to 64 bits across the wrap every 49.7 days.
///
/// Audio and video share one clock. Data messages are unwrapped relative to it but do not advance it, since many
/// encoders send them with timestamp 0.
public struct TimestampUnwrapper: Sendable {
    private var last: Int64?

    /// Makes an unwrapper whose first timestamp is unchanged.
    public init() {}

    /// Returns the 64-bit time with these low 32 bits that is nearest to the last one.
    ///
    /// - Parameter movesClock: Whether later timestamps are unwrapped relative to this one.
    public mutating func unwrap(_ timestamp: UInt32, movesClock: Bool) -> Int64 {
        guard let last else {
            if movesClock { last = Int64(timestamp) }
            return Int64(timestamp)
        }
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        let unwrapped = last + Int64(step)
        if movesClock { self.last = unwrapped }
        return unwrapped
    }
}
