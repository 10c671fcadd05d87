/// What is counted of a room in one shard besides its cells.
struct RoomTally: Sendable {
    /// What only grows.
    struct Counts: Tally {
        static let zero = Counts()

        /// Sessions, and requests without one, that never counted.
        var excluded = PerExclusion.zero
        /// Sessions that joined and whose players reported of themselves.
        var heard = 0
        /// Ids that were handed out and never seen again: of somebody who changed their mind, or of a player whose
        /// requests another server answers and who says nothing.
        var unseen = 0

        mutating func add(_ other: Counts, times factor: Int) {
            excluded.add(other.excluded, times: factor)
            heard += factor * other.heard
            unseen += factor * other.unseen
        }
    }

    /// Sessions of any phase, and viewers known beyond them.
    var occupants = 0
    /// Ended sessions that may still come back and whose leave is therefore not counted yet.
    var resumable = 0
    /// Live player sessions of participants that are present and watch.
    var attributed = 0
    /// Live sessions of a viewer beyond its first.
    var surplus = 0
    /// Sessions that are not proven to watch, or never will be.
    var unproven = 0
    var counts = Counts.zero
    var baseline = Counts.zero

    static func += (left: inout RoomTally, right: RoomTally) {
        left.occupants += right.occupants
        left.resumable += right.resumable
        left.attributed += right.attributed
        left.surplus += right.surplus
        left.unproven += right.unproven
        left.counts += right.counts
        left.baseline += right.baseline
    }
}
