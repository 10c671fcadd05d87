import Stage

/// One place in the dimensions by which viewers are told apart, and what was counted there.
///
/// Every session stands in exactly one cell, so whatever the figures are added up by, the sum is the same. Counters run
/// on from one broadcast of the room to the next; `baseline` is where the present one began.
struct Cell: Sendable {
    struct Key: Hashable, Sendable {
        /// Place of the room in the shard's list; -1 for a cell that is free.
        var room: Int32
        var playback: PlaybackProtocol
        /// Places in the shard's list of names.
        var rendition: UInt16 = 0
        var region: UInt16 = 0
        var client: ClientClass = .unknown
    }

    /// What only grows.
    struct Counts: Tally {
        static let zero = Counts()

        var joins = 0
        /// Counted when the grace time for a return is over, under the reason of the end.
        var leaves = PerReason.zero
        /// Sessions that came from another rendition or protocol.
        var switches = 0
        /// Milliseconds.
        var watch: Int64 = 0
        /// Milliseconds that players say they waited for media in the midst of it.
        var stalled: Int64 = 0
        /// Milliseconds from the request to the first media, of those of whom it is known, and how many they are.
        var startup: Int64 = 0
        var startups = 0

        mutating func add(_ other: Counts, times factor: Int) {
            joins += factor * other.joins
            leaves.add(other.leaves, times: factor)
            switches += factor * other.switches
            watch += Int64(factor) * other.watch
            stalled += Int64(factor) * other.stalled
            startup += Int64(factor) * other.startup
            startups += factor * other.startups
        }
    }

    var key: Key
    /// Viewers that count now.
    var live = 0
    /// Its watch time is that of those who left, and of viewers by requests up to their last hit.
    var counts = Counts.zero
    /// The sum of the moments at which the runs of live connections began.
    var runStarts: Int64 = 0
    var baseline = Counts.zero

    init(key: Key) {
        self.key = key
    }

    /// What was counted until `now`: watch time of connections exact, of viewers by requests up to their last hit.
    func counts(at now: Int64) -> Counts {
        var counts = counts
        if key.playback.isContinuous { counts.watch += max(0, Int64(live) * now - runStarts) }
        return counts
    }
}

extension PlaybackProtocol {
    /// Watches without a break between its beginning and its end; the others are seen only when they ask.
    var isContinuous: Bool { isConnection || self == .sdk }
}
