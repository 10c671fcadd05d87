/// How much of the machine all rooms' mixers may have together, and whether one more host or program fits in.
///
/// What a room costs is what its mixer says. What a host will add is taken from a rough model of composing, coding and
/// decoding, put right by what the rooms on air really cost beside what the model says of them. Hosts who were let in
/// and do not send yet count as if they did. And while a mixer leaves out pictures for lack of time nobody comes in, as
/// long as that can be the machine's fault: whatever was measured, it is not enough.
public struct ProcessorBudget: Sendable, Equatable {
    /// A room as the model sees it.
    public struct Show: Sendable, Equatable {
        /// Pixels per second in those of 1280x720 at 30 pictures a second.
        public var size: Double
        /// The same of all renditions together.
        public var renditions: Double
        /// Hosts on air.
        public var hosts: Int
        /// Hosts who were let in a moment ago and do not send yet.
        public var expected: Int
        /// The cores its mixer keeps busy; nil when that is not known, 0 hosts then cost nothing.
        public var measured: Double?
        /// How far down the program is; see `MixerLoad.level`.
        public var level: Int

        /// Makes a show.
        public init(
            size: Double = 1,
            renditions: Double = 0,
            hosts: Int,
            expected: Int = 0,
            measured: Double? = nil,
            level: Int = 0
        ) {
            self.size = size
            self.renditions = renditions
            self.hosts = hosts
            self.expected = expected
            self.measured = measured
            self.level = level
        }
    }

    // Measured with `deploy/bench mixer` on a server of two cores: 0.67 cores with four hosts of 1280x720 and 1.08 with
    // nine, which is 0.33 for the program and 0.083 for each host; and a little for reading the hosts' feeds.

    /// Cores for composing and coding a program of 1280x720 at 30 pictures a second.
    static let perProgram = 0.3
    /// Cores for coding a rendition of that size.
    static let perRendition = 0.2
    /// Cores for reading and decoding a host's pictures and sound.
    static let perHost = 0.1
    /// How far the model is believed to be off, either way.
    static let correction = 0.25...4.0
    /// Seconds after which a mixer that says nothing is believed to be gone.
    static let freshness = 5.0
    /// Seconds in which a host who was let in is expected to send.
    static let arrival = 60.0
    /// From this level on a program leaves out pictures.
    static let strained = 3
    /// The part of the budget below which one room's strain is its own: what it does on a thread is too much for it.
    static let spare = 0.5
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
        guard show.level < Self.strained else { return false }
        let hosts = show.hosts + show.expected
        return admits(Self.model(show, hosts: hosts + 1) - Self.model(show, hosts: hosts), to: show, beside: others)
    }

    /// Whether a room's program may begin; with nobody on air its slate has to be composed and coded, too.
    ///
    /// One that runs already costs no more than it does, and one with hosts was counted when they were let in.
    ///
    /// - Parameters:
    ///   - show: The room as it is.
    ///   - others: Every other room.
    public func admitsProgram(of show: Show, beside others: [Show]) -> Bool {
        guard show.measured == nil, show.hosts + show.expected == 0 else { return true }
        return admits(Self.program(show), to: show, beside: others)
    }

    /// Whether there is time for so many cores more by the model.
    private func admits(_ more: Double, to show: Show, beside others: [Show]) -> Bool {
        let scale = Self.scale(of: others + [show])
        func cost(_ show: Show) -> Double {
            let coming = Self.model(show, hosts: show.hosts + show.expected)
            guard let measured = show.measured else { return coming * scale }
            return measured + (coming - Self.model(show, hosts: show.hosts)) * scale
        }
        let present = others.reduce(cost(show)) { $0 + cost($1) }
        if present > cores * Self.spare, others.contains(where: { $0.level >= Self.strained }) { return false }
        return present + more * scale <= cores
    }

    /// What a show costs with so many hosts on air.
    private static func model(_ show: Show, hosts: Int) -> Double {
        hosts == 0 ? 0 : program(show) + perHost * Double(hosts)
    }

    /// What composing and coding it costs.
    private static func program(_ show: Show) -> Double {
        perProgram * show.size + perRendition * show.renditions
    }

    /// What the measured rooms cost beside what the model says of them.
    private static func scale(of shows: [Show]) -> Double {
        let known = shows.filter { $0.hosts > 0 && ($0.measured ?? 0) > 0 }
        let modelled = known.reduce(0) { $0 + model($1, hosts: $1.hosts) }
        guard modelled > 0 else { return 1 }
        let measured = known.reduce(0) { $0 + ($1.measured ?? 0) }
        return min(max(measured / modelled, correction.lowerBound), correction.upperBound)
    }
}
