import HLS
import Synchronization

/// What the playlists of a program and its renditions have in common: where segments are counted from, what the wall
/// clock says, and how far each of them is.
///
/// Feeds of one program have one clock. So a segment that begins at the same moment has the same number and the same date
/// in every playlist, whichever rendition was there first, and a player that changes between them knows where it is.
final class RenditionClock: Sendable {
    /// Segments of the program by which a rendition may be behind it; what stands still is further.
    static let longestLag = 2.0

    private struct Progress {
        var report: RenditionReport
        /// Where its newest part ends.
        var end: Double
    }

    /// Times are milliseconds of the feeds' clock.
    private struct State {
        /// A segment, the program's newest once that has any, and where it begins.
        var known: (sequence: Int, start: Double)?
        /// Where the program goes on after its last break, and how far it is.
        var begin = -Double.infinity
        var end: Double?
        var anchor: (wallClock: Double, feed: Double)?
        /// What each playlist has, by its file name.
        var progress: [Progress] = []
        /// Segments before which there is a discontinuity.
        var discontinuities: Set<Int> = []

        /// By how much the playlist of that name is behind the program, which may have been away itself.
        func lag(of name: String) -> Double {
            guard let end, let own = progress.first(where: { $0.report.uri == name }) else { return 0 }
            return end - max(own.end, begin)
        }
    }

    private let segmentMilliseconds: Double
    /// The number of the first segment of all.
    let first: Int
    private let state = Mutex(State())

    /// - Parameter first: The number of the first segment of all.
    init(segmentDuration: Double, first: Int = 0) {
        segmentMilliseconds = max(segmentDuration, 0.5) * 1000
        self.first = first
    }

    private var longestLag: Double { Self.longestLag * segmentMilliseconds }

    /// The number of a first segment that begins at `timestamp` milliseconds of the feeds' clock.
    func firstSequence(at timestamp: Int64) -> Int {
        state.withLock { state in
            let known = state.known ?? (first, Double(timestamp))
            state.known = known
            return number(at: timestamp, from: known)
        }
    }

    /// The number with which a rendition is to go on at `timestamp`, when it stood still while the program went on.
    ///
    /// - Parameter name: The file name of its playlist.
    /// - Returns: Nil when it has not.
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

    /// More than a day has; a clock that leaps further is none.
    private static let mostSegments = 172_800.0

    /// Whether a rendition has not got what the program has had for some time.
    ///
    /// - Parameter name: The file name of its playlist.
    func standsStill(_ name: String) -> Bool {
        state.withLock { $0.lag(of: name) > longestLag }
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

    /// Discontinuities of the program before the media of that segment, its own included: a rendition that begins with
    /// it has the discontinuity numbers of the others, as it has to (RFC 8216bis 6.2.4).
    func discontinuities(until sequence: Int) -> Int {
        first + state.withLock { $0.discontinuities.count { $0 <= sequence } }
    }

    /// A playlist has a new part.
    ///
    /// - Parameters:
    ///   - name: The playlist's file name.
    ///   - isProgram: It is the program's own.
    func came(_ part: Part, to name: String, isProgram: Bool) {
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

    /// How far the playlists beside that one are; nothing of one that stands still.
    func reports(beside name: String) -> [RenditionReport] {
        state.withLock { state in
            state.progress.map(\.report).filter { $0.uri != name && state.lag(of: $0.uri) <= longestLag }
        }
    }
}
