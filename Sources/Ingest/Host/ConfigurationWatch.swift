import Media
import NIOCore

/// Says when a track's configuration changes more often than any encoder has a reason to.
///
/// Each change has a mixer open another decoder, which is dear; a repetition of the same one costs nothing.
struct ConfigurationWatch {
    /// Changes within the window that are taken.
    static let most = 20
    private static let window = 10.0

    private var last: ByteBuffer?
    private var windowStart: MonotonicTime?
    private var changes = 0

    /// Takes note of a configuration.
    ///
    /// - Returns: Whether it is one too many.
    mutating func isTooMany(_ configuration: ByteBuffer, now: MonotonicTime) -> Bool {
        guard configuration != last else { return false }
        last = configuration
        if let start = windowStart, now.seconds(since: start) < Self.window {
            changes += 1
        } else {
            windowStart = now
            changes = 1
        }
        return changes > Self.most
    }
}
