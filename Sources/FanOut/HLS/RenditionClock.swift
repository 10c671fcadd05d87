import Synchronization

/// What the playlists of a program and its renditions have in common: where segments are counted from, and what the
/// wall clock says.
///
/// Feeds of one program have one clock. So a segment that begins at the same moment has the same number and the same date
/// in every playlist, whichever rendition was there first, and a player that changes between them knows where it is.
final class RenditionClock: Sendable {
    private struct State {
        var start: Int64?
        var anchor: (wallClock: Double, feed: Double)?
    }

    private let segmentMilliseconds: Double
    private let state = Mutex(State())

    init(segmentDuration: Double) {
        segmentMilliseconds = max(segmentDuration, 0.5) * 1000
    }

    /// The number of a first segment that begins at `timestamp` milliseconds of the feeds' clock.
    func firstSequence(at timestamp: Int64) -> Int {
        state.withLock { state in
            guard let start = state.start else {
                state.start = timestamp
                return 0
            }
            return max(0, Int((Double(timestamp - start) / segmentMilliseconds).rounded()))
        }
    }

    /// The wall clock at `feed` seconds of the feeds' clock, in seconds since 1970.
    ///
    /// - Parameter now: The wall clock at the moment of the call, by which the first moment asked for is dated.
    func date(of feed: Double, now: Double) -> Double {
        state.withLock { state in
            let anchor = state.anchor ?? (now, feed)
            state.anchor = anchor
            return anchor.wallClock + feed - anchor.feed
        }
    }
}
