import Stage

/// What was watched in all rooms together from one minute to another.
public struct PeriodFigures: Sendable {
    /// When programs were on the air, and what the single minutes tell beyond their sum.
    public struct Air: Sendable {
        /// Broadcasts of which anything was counted.
        public var broadcasts = 0
        /// Milliseconds in which any program was on the air; in a minute that none was from beginning to end, those of the
        /// one that was for longest.
        public var duration: Int64 = 0
        /// Minutes in which a program was on the air from beginning to end, and the milliseconds watched in them.
        public var wholeMinutes = (count: 0, watched: Int64(0))
        /// The most viewers at once, and in which minute since 1970 that was.
        public var peak: (viewers: Int, minute: Int64)?

        /// Nothing was.
        public init() {}
    }

    /// Everybody.
    public private(set) var whole = BroadcastFigures.Slice()
    /// By how they watched.
    public private(set) var byProtocol: [String: BroadcastFigures.Slice] = [:]
    /// Viewers on average over the whole minutes on the air.
    public private(set) var averageMinuteAudience = 0.0
    /// The time on the air.
    public let air: Air

    /// - Parameter sums: a row for each way of watching; rows of the whole are passed over.
    public init(sums: [MinuteRow], air: Air) {
        self.air = air
        for row in sums {
            guard let playback = row.key.dimensions?.playback else { continue }
            whole.add(row)
            byProtocol[playback.rawValue, default: .init()].add(row)
        }
        averageMinuteAudience = average(of: whole)
        guard air.wholeMinutes.count > 0 else { return }
        let average = Double(air.wholeMinutes.watched) / 60_000 / Double(air.wholeMinutes.count)
        averageMinuteAudience = min(average, air.peak.map { Double($0.viewers) } ?? average)
    }

    /// Viewers on average over the time on the air, never more than there were at once.
    public func average(of slice: BroadcastFigures.Slice) -> Double {
        guard air.duration > 0, whole.aired > 0 else { return 0 }
        let all = Double(whole.aired) / Double(air.duration)
        let most = air.peak.map { Double($0.viewers) } ?? all
        return min(1, most / all) * Double(slice.aired) / Double(air.duration)
    }
}
