import Stage

/// The figures of one room in one shard; those of all shards add up to the room's.
///
/// Counters run on from one broadcast of the room to the next; `baseline` is where the present one began. In every
/// snapshot `joins - leaves == live + resumable`, by construction: each is moved together with its counterpart.
struct RoomCounters: Sendable {
    /// Where a broadcast's own figures start.
    struct Baseline: Sendable, Equatable {
        var joins = PerProtocol<Int>.zero
        var leaves = PerProtocol<PerReason>.zero
        var watch = PerProtocol<Int64>.zero
    }

    /// Viewers that count now.
    var live = PerProtocol<Int>.zero
    var joins = PerProtocol<Int>.zero
    /// Counted when the grace time for a return is over, under the reason of the end.
    var leaves = PerProtocol<PerReason>.zero
    /// Ended sessions that may still come back and whose leave is therefore not counted yet.
    var resumable = 0
    /// Live player sessions that belong to a participant.
    var attributed = 0
    /// Live sessions of a participant beyond its first.
    var surplus = 0
    /// Milliseconds watched by those who left, and by viewers by requests up to their last hit.
    var settledWatch = PerProtocol<Int64>.zero
    /// The sum of the moments at which the runs of live connections began.
    var runStarts = PerProtocol<Int64>.zero
    var baseline = Baseline()

    /// Milliseconds watched until `now`: of connections exact, of viewers by requests up to their last hit.
    func watch(at now: Int64) -> PerProtocol<Int64> {
        var watch = settledWatch
        for playback in PlaybackProtocol.allCases where playback.isContinuous {
            watch[playback] += max(0, Int64(live[playback]) * now - runStarts[playback])
        }
        return watch
    }

    /// Begins a new broadcast: what was counted until now belongs to the one before.
    mutating func rebase(at now: Int64) {
        baseline = Baseline(joins: joins, leaves: leaves, watch: watch(at: now))
    }

    static func += (left: inout RoomCounters, right: RoomCounters) {
        left.live += right.live
        left.joins += right.joins
        left.leaves += right.leaves
        left.resumable += right.resumable
        left.attributed += right.attributed
        left.surplus += right.surplus
        left.settledWatch += right.settledWatch
        left.runStarts += right.runStarts
        left.baseline.joins += right.baseline.joins
        left.baseline.leaves += right.baseline.leaves
        left.baseline.watch += right.baseline.watch
    }
}

extension PlaybackProtocol {
    /// Watches without a break between its beginning and its end; the others are seen only when they ask.
    var isContinuous: Bool { isConnection || self == .sdk }
}
