import HLS
import Synchronization

/// The state shared by the playlists of a program and its renditions: segment numbers, wall clock and progress.
///
/// The feeds of one program have one clock. A segment that starts at the same time therefore has the same number and
/// date in every playlist, whichever rendition was first, so that players can switch between them.
final class RenditionClock: Sendable {
    /// The maximum lag of a rendition behind the program, in segments; beyond it the rendition is stalled.
    static let longestLag = 2.0

    private struct Progress {
        var report: RenditionReport
        /// The end of the newest part.
        var end: Double
    }

    /// Times are milliseconds of the feeds' clock.
    private struct State {
        /// A segment and its start: the program's newest one, once there is one.
        var known: (sequence: Int, start: Double)?
        /// Where the program resumed after its last gap, and its end.
        var begin = -Double.infinity
        var end: Double?
        var anchor: (wallClock: Double, feed: Double)?
        /// The progress of each playlist.
        var progress: [Progress] = []
        /// The segments that start with a discontinuity.
        var discontinuities: Set<Int> = []

        /// Returns the lag of a playlist behind the program, not counting a gap in the program itself.
        func lag(of name: String) -> Double {
            guard let end, let own = progress.first(where: { $0.report.uri == name }) else { return 0 }
            return end - max(own.end, begin)
        }
    }

    private let segmentMilliseconds: Double
    /// The number of the very first segment.
    let first: Int
    private let state = Mutex(State())

    /// - Parameter first: The number of the very first segment.
    init(segmentDuration: Double, first: Int = 0) {
        segmentMilliseconds = max(segmentDuration, 0.5) * 1000
        self.first = first
    }

    private var longestLag: Double { Self.longestLag * segmentMilliseconds }

    /// Returns the number of a first segment that starts at `timestamp` milliseconds of the feeds' clock.
    func firstSequence(at timestamp: Int64) -> Int {
        state.withLock { state in
            let known = state.known ?? (first, Double(timestamp))
            state.known = known
            return number(at: timestamp, from: known)
        }
    }

    /// Returns the number at which a rendition resumes at `timestamp` after a stall.
    ///
    /// - Parameter name: The file name of its playlist.
    /// - Returns: Nil if the rendition was not stalled.
    func resumption(of name: String, at timestamp: Int64) -> Int? {
        state.withLock { state in
            guard let known = state.known, let own = state.progress.first(where: { $0.report.uri == name }),
                state.lag(of: name) > longestLag, Double(timestamp) - max(own.end, state.begin) > longestLag
            else { return nil }
            return number(at: timestamp, from: known)
        }
    }

    private func number(at timestamp: Int64, from known: (sequence: Int, start: Double)) -> Int {
        let segments = ((Double(timestamp) - known.start) / segmentMilliseconds).rounded()
        return max(first, known.sequence + Int(min(max(segments, -Self.mostSegments), Self.mostSegments)))
    }

    /// More segments than a day has; a larger jump of the clock is clamped.
    private static let mostSegments = 172_800.0

    /// Whether a rendition is behind the program by more than the maximum lag.
    ///
    /// - Parameter name: The file name of its playlist.
    func isStalled(_ name: String) -> Bool {
        state.withLock { $0.lag(of: name) > longestLag }
    }

    /// Returns the wall clock at `feed` seconds of the feeds' clock, in seconds since 1970.
    ///
    /// - Parameter now: The current wall clock; the first call fixes the offset.
    func date(of feed: Double, now: Double) -> Double {
        state.withLock { state in
            let anchor = state.anchor ?? (now, feed)
            state.anchor = anchor
            return anchor.wallClock + feed - anchor.feed
        }
    }

    /// Returns the number of discontinuities up to and including a segment, so that a rendition that starts with it has
    /// the same discontinuity sequence as the others (RFC 8216bis section 6.2.4).
    func discontinuities(until sequence: Int) -> Int {
        first + state.withLock { $0.discontinuities.count { $0 <= sequence } }
    }

    /// Records a new part of a playlist.
    ///
    /// - Parameters:
    ///   - name: The playlist's file name.
    ///   - isProgram: Whether the playlist is the program's own.
    func recordPart(_ part: Part, to name: String, isProgram: Bool) {
        let start = part.start * 1000
        let end = start + part.duration * 1000
        state.withLock { state in
            if part.isDiscontinuity, part.index == 0 { state.discontinuities.insert(part.sequence) }
            if let index = state.progress.firstIndex(where: { $0.report.uri == name }) {
                state.progress[index].report.last = part.position
                state.progress[index].end = end
            } else {
                state.progress.append(Progress(report: RenditionReport(uri: name, last: part.position), end: end))
            }
            guard isProgram else { return }
            if start - (state.end ?? -.infinity) > longestLag { state.begin = start }
            state.end = end
            if part.index == 0 { state.known = (part.sequence, start) }
        }
    }

    /// Returns the rendition reports for a playlist: all others that are not stalled.
    func reports(beside name: String) -> [RenditionReport] {
        state.withLock { state in
            state.progress.map(\.report).filter { $0.uri != name && state.lag(of: $0.uri) <= longestLag }
        }
    }
}
