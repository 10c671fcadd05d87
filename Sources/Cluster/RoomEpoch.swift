/// Makes the epochs of a room's mixers from the fence of its owner.
///
/// An epoch orders the mixers of one room over all nodes: a higher fence outranks every mixer of an earlier owner, and
/// under one fence each start outranks the one before. The result exceeds the epochs of a single node, which are seconds
/// since 1970, and is below 2^53, so that JSON represents it exactly.
public enum RoomEpoch {
    /// The number of mixer starts under one fence.
    public static let starts: UInt64 = 1 << 20
    /// The highest fence; as seconds since 1970 it is the year 2242.
    public static let highestFence: UInt64 = 1 << 33 - 1

    /// Returns the epoch of a mixer; nil when the fence or the number of the start is out of range.
    ///
    /// - Parameter start: The number of the mixer's start under this fence, from 0.
    public static func epoch(fence: UInt64, start: UInt64) -> UInt64? {
        guard fence <= highestFence, start < starts else { return nil }
        return fence << 20 | start
    }

    /// Returns the lowest fence to give at a time of the wall clock; 0 for a time that is out of range.
    ///
    /// - Parameter seconds: Seconds since 1970.
    public static func fenceFloor(seconds: Double) -> UInt64 {
        // A clock that is far ahead would use up the range of fences for good: half of it is left.
        guard seconds >= 0, seconds < Double(highestFence / 2) else { return 0 }
        return UInt64(seconds)
    }
}
