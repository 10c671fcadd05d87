/// What is counted of a room in one shard besides its cells.
struct RoomTally: Sendable {
    /// What only grows.
    struct Counts: Sendable, Equatable, AdditiveArithmetic {
        static let zero = Counts()

        /// Sessions, and requests without one, that never counted.
        var excluded = PerExclusion.zero
        /// Milliseconds that players say they waited for media in the midst of it.
        var stalled: Int64 = 0
        /// Milliseconds from the request to the first media, of those of whom it is known, and how many they are.
        var startup: Int64 = 0
        var startups = 0

        static func + (one: Counts, other: Counts) -> Counts {
            Counts(
                excluded: one.excluded + other.excluded,
                stalled: one.stalled + other.stalled,
                startup: one.startup + other.startup,
                startups: one.startups + other.startups
            )
        }

        static func - (one: Counts, other: Counts) -> Counts {
            Counts(
                excluded: one.excluded - other.excluded,
                stalled: one.stalled - other.stalled,
                startup: one.startup - other.startup,
                startups: one.startups - other.startups
            )
        }
    }

    /// Ended sessions that may still come back and whose leave is therefore not counted yet.
    var resumable = 0
    /// Live player sessions that belong to a participant.
    var attributed = 0
    /// Live sessions of a viewer beyond its first.
    var surplus = 0
    /// Sessions that are not proven to watch, or never will be.
    var unproven = 0
    var counts = Counts.zero
    var baseline = Counts.zero

    static func += (left: inout RoomTally, right: RoomTally) {
        left.resumable += right.resumable
        left.attributed += right.attributed
        left.surplus += right.surplus
        left.unproven += right.unproven
        left.counts += right.counts
        left.baseline += right.baseline
    }
}
