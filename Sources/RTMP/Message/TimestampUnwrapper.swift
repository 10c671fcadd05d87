/// Follows a peer's 32-bit millisecond clock over its wrap every 49.7 days.
///
/// Sound and pictures share one clock and move it; data messages are placed near it but do not move it, for many
/// encoders stamp them with 0.
struct TimestampUnwrapper {
    private var last: Int64?

    /// The 64-bit time nearest to the last one that has these low 32 bits.
    mutating func unwrap(_ timestamp: UInt32, movesClock: Bool) -> Int64 {
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
