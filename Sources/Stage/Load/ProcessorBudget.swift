/// How much of the machine all rooms' mixers may have together, and whether one more host fits in: rules alone.
///
/// What a room costs is what its mixer says. What a host will add is taken from a rough model of composing, coding and
/// decoding, put right by what the rooms on air really cost beside what the model says of them.
public struct ProcessorBudget: Sendable, Equatable {
    /// A room as the model sees it.
    public struct Show: Sendable, Equatable {
        /// Pixels per second in those of 1280x720 at 30 pictures a second.
        public var size: Double
        /// Hosts on air.
        public var hosts: Int
        /// The cores its mixer keeps busy; nil when that is not known, 0 hosts then cost nothing.
        public var measured: Double?

        /// Makes a show.
        public init(size: Double = 1, hosts: Int, measured: Double? = nil) {
            self.size = size
            self.hosts = hosts
            self.measured = measured
        }
    }

    // Measured with `footlight-bench mixer` on a server of two cores: 0.67 cores with four hosts of 1280x720 and 1.08 with
    // nine, which is 0.33 for the program and 0.083 for each host; and a little for reading the hosts' feeds.

    /// Cores for composing and coding a program of 1280x720 at 30 pictures a second.
    static let perProgram = 0.3
    /// Cores for reading and decoding a host's pictures and sound.
    static let perHost = 0.1
    /// How far the model is believed to be off, either way.
    static let correction = 0.25...4.0
    /// Seconds after which a mixer that says nothing is believed to be gone.
    static let freshness = 5.0
    /// Seconds after which a refused host may ask again.
    static let retryAfter = 10

    /// Cores that all mixers together may keep busy.
    public var cores: Double

    /// Makes a budget.
    ///
    /// - Parameters:
    ///   - cores: What the machine has.
    ///   - ceiling: The part of it that mixers may have, 0 to 1; the rest is for the audience and the system.
    public init(cores: Int, ceiling: Double) {
        self.cores = Double(max(cores, 1)) * ceiling
    }

    /// Whether a room may have one more host.
    ///
    /// - Parameters:
    ///   - show: The room as it is.
    ///   - others: Every other room.
    public func admitsHost(to show: Show, beside others: [Show]) -> Bool {
        let scale = Self.scale(of: others + [show])
        func cost(_ show: Show) -> Double { show.measured ?? Self.model(show) * scale }
        let present = others.reduce(cost(show)) { $0 + cost($1) }
        var more = show
        more.hosts += 1
        return present + (Self.model(more) - Self.model(show)) * scale <= cores
    }

    private static func model(_ show: Show) -> Double {
        show.hosts == 0 ? 0 : perProgram * show.size + perHost * Double(show.hosts)
    }

    /// What the measured rooms cost beside what the model says of them.
    private static func scale(of shows: [Show]) -> Double {
        let known = shows.filter { $0.hosts > 0 && ($0.measured ?? 0) > 0 }
        let modelled = known.reduce(0) { $0 + model($1) }
        guard modelled > 0 else { return 1 }
        let measured = known.reduce(0) { $0 + ($1.measured ?? 0) }
        return min(max(measured / modelled, correction.lowerBound), correction.upperBound)
    }
}
