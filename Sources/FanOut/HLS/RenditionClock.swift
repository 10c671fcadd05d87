import HLS
import Synchronization

/// What the playlists of a program and its renditions have in common: where segments are counted from, what the wall
/// clock says, and how far each of them is.
///
/// Feeds of one program have one clock. So a segment that begins at the same moment has the same number and the same date
/// in every playlist, whichever rendition was there first, and a player that changes between them knows where it is.
final class RenditionClock: Sendable {
    private struct State {
        var start: Int64?
        var anchor: (wallClock: Double, feed: Double)?
        var reports: [RenditionReport] = []
        /// Segments before which there is a discontinuity.
        var discontinuities: Set<Int> = []
    }

    private let segmentMilliseconds: Double
    private let first: Int
    private let state = Mutex(State())

    /// - Parameter first: The number of the first segment of all.
    init(segmentDuration: Double, first: Int = 0) {
        segmentMilliseconds = max(segmentDuration, 0.5) * 1000
        self.first = first
    }

    /// The number of a first segment that begins at `timestamp` milliseconds of the feeds' clock.
    func firstSequence(at timestamp: Int64) -> Int {
        state.withLock { state in
            guard let start = state.start else {
                state.start = timestamp
                return first
            }
            return first + max(0, Int((Double(timestamp - start) / segmentMilliseconds).rounded()))
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

    /// A rendition has a discontinuity before its segment of that number.
    func discontinuity(before sequence: Int) {
        state.withLock { _ = $0.discontinuities.insert(sequence) }
    }

    /// Discontinuities of the program before the media of that segment, its own included: a rendition that begins with
    /// it has the discontinuity numbers of the others, as it has to (RFC 8216bis 6.2.4).
    func discontinuities(until sequence: Int) -> Int {
        first + state.withLock { $0.discontinuities.count { $0 <= sequence } }
    }

    /// A rendition has a new part.
    ///
    /// - Parameter uri: The file name of its playlist.
    func advanced(_ uri: String, to last: PartPosition) {
        state.withLock { state in
            if let index = state.reports.firstIndex(where: { $0.uri == uri }) {
                state.reports[index].last = last
            } else {
                state.reports.append(RenditionReport(uri: uri, last: last))
            }
        }
    }

    /// How far the renditions beside that one are.
    func reports(beside uri: String) -> [RenditionReport] {
        state.withLock { $0.reports.filter { $0.uri != uri } }
    }
}
