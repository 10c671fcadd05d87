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
    /// Viewers on average over the whole minutes.
    public private(set) var averageMinuteAudience = 0.0

    /// - Parameters:
    ///   - sums: a row for each place in the dimensions.
    ///   - minutes: single minutes of the broadcast, for the average minute; rows of whole rooms mean nothing here.
    ///   - now: milliseconds since 1970; where a broadcast is that lasts.
    public init(broadcast: BroadcastRow, sums: [MinuteRow], minutes: [MinuteRow], now: Int64) {
        self.broadcast = broadcast
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
        // A minute counts if all of it belongs to the broadcast.
        let (first, last) = ((broadcast.began + 59_999) / 60_000, end / 60_000)
        guard last > first else { return }
        let watched = minutes.reduce(into: Int64(0)) { sum, row in
            guard row.key.epoch == broadcast.epoch, row.key.dimensions != nil else { return }
            if (first..<last).contains(row.key.minute) { sum += row.watched }
        }
        averageMinuteAudience = Double(watched) / 60_000 / Double(last - first)
    }

    /// The part of the viewers by requests whose players report of themselves, 0 to 1; nil without such viewers.
    public var coverage: Double? {
        let asked = [PlaybackProtocol.hls, .llhls].reduce(0) { $0 + (byProtocol[$1.rawValue]?.joins ?? 0) }
        return asked > 0 ? min(1, Double(broadcast.heard) / Double(asked)) : nil
    }

    /// Viewers on average: the area under the number of viewers, over the duration.
    public func average(of slice: Slice) -> Double {
        duration > 0 ? Double(slice.watched) / Double(duration) : 0
    }
}

extension BroadcastFigures.Slice {
    fileprivate mutating func add(_ row: MinuteRow) {
        joins += row.joins
        leaves += row.leaves.reduce(0, +)
        switches += row.switches
        watched += row.watched
    }
}
