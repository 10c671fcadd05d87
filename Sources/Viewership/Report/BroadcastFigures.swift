import Stage

/// One broadcast as a whole, from what the history has of it.
public struct BroadcastFigures: Sendable {
    /// What one group of viewers did.
    public struct Slice: Sendable, Equatable {
        /// Sessions that were proven to watch.
        public var joins = 0
        /// Sessions that ended for good.
        public var leaves = 0
        /// Changes of rendition.
        public var switches = 0
        /// Milliseconds.
        public var watched: Int64 = 0
        /// Milliseconds of them while the program was on the air.
        public var aired: Int64 = 0
    }

    /// The broadcast.
    public let broadcast: BroadcastRow
    /// Everybody.
    public private(set) var whole = Slice()
    /// By how they watched.
    public private(set) var byProtocol: [String: Slice] = [:]
    /// By rendition; empty for the program as it is.
    public private(set) var byRendition: [String: Slice] = [:]
    /// By country or region; empty where nobody knows.
    public private(set) var byRegion: [String: Slice] = [:]
    /// By kind of player.
    public private(set) var byClient: [String: Slice] = [:]
    /// Milliseconds over which the averages are.
    public let duration: Int64
    /// Viewers on average over the whole minutes on the air.
    public private(set) var averageMinuteAudience = 0.0
    private let peak: Int

    /// - Parameters:
    ///   - sums: a row for each place in the dimensions.
    ///   - wholeMinutes: how many minutes were on the air from beginning to end, and the time watched in them.
    ///   - peak: the most viewers at once; nil for those that were told live.
    ///   - now: milliseconds since 1970; where a broadcast is that lasts.
    public init(
        broadcast: BroadcastRow,
        sums: [MinuteRow],
        wholeMinutes: (count: Int, watched: Int64) = (0, 0),
        peak: Int? = nil,
        now: Int64
    ) {
        self.broadcast = broadcast
        self.peak = peak ?? broadcast.peak
        let end = broadcast.ended ?? now
        duration = broadcast.onAir > 0 ? broadcast.onAir : max(0, end - broadcast.began)
        for row in sums {
            guard let dimensions = row.key.dimensions else { continue }
            whole.add(row)
            byProtocol[dimensions.playback.rawValue, default: Slice()].add(row)
            byRendition[dimensions.rendition, default: Slice()].add(row)
            byRegion[dimensions.region, default: Slice()].add(row)
            byClient[dimensions.client.rawValue, default: Slice()].add(row)
        }
        averageMinuteAudience = average(of: whole)
        guard wholeMinutes.count > 0 else { return }
        let average = Double(wholeMinutes.watched) / 60_000 / Double(wholeMinutes.count)
        averageMinuteAudience = min(average, Double(self.peak))
    }

    /// The part of the viewers by requests whose players report of themselves, 0 to 1; nil without such viewers.
    ///
    /// Who took an id and was never seen again counts as one who does not report: where another server answers the
    /// requests and tells nothing, all players that do not report are among those. So it is never too high.
    public var coverage: Double? {
        let seen = [PlaybackProtocol.hls, .llhls].reduce(0) { $0 + (byProtocol[$1.rawValue]?.joins ?? 0) }
        let asked = seen + broadcast.unseen
        return asked > 0 ? min(1, Double(broadcast.heard) / Double(asked)) : nil
    }

    /// Viewers on average: the area under the number of viewers while the program was on the air, over that time.
    ///
    /// Of a broadcast whose program never was, over the whole of it.
    public func average(of slice: Slice) -> Double {
        guard duration > 0, area(of: whole) > 0 else { return 0 }
        // Watching is booked when it is proven, some seconds late: at the edges that may be more than there ever were.
        let most = Double(peak) * Double(duration)
        return min(1, most / area(of: whole)) * area(of: slice) / Double(duration)
    }

    private func area(of slice: Slice) -> Double {
        Double(broadcast.onAir > 0 ? slice.aired : slice.watched)
    }
}

extension BroadcastFigures.Slice {
    mutating func add(_ row: MinuteRow) {
        joins += row.joins
        leaves += row.leaves.reduce(0, +)
        switches += row.switches
        watched += row.watched
        aired += row.aired
    }
}
