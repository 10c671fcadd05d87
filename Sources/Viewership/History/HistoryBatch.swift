/// The changes since the last batch, to be written in one transaction.
public struct HistoryBatch: Sendable {
    /// The maximum number of pending sessions; further ones are dropped, except for their counts.
    static let sessionLimit = 500_000
    /// The maximum number of pending minutes: hours of many rooms, days of a few.
    static let minuteLimit = 500_000

    /// The time of the batch, in milliseconds since 1970.
    public var asOf: Int64
    /// The latest state of each session, by the authentication code of its id.
    public var sessions: [UInt64: SessionRow] = [:]
    /// Interruptions that ended.
    public var gaps: [GapRow] = []
    /// Switches of rendition and protocol.
    public var moves: [MoveRow] = []
    /// Parts of minutes, by minute and cell.
    public var minutes: [MinuteRow.Key: MinuteRow] = [:]
    /// The concurrent peaks of viewer groups, by minute.
    public var peaks: [GroupPeak: Int] = [:]
    /// Broadcasts, by epoch.
    public var broadcasts: [Int64: BroadcastRow] = [:]
    /// The last requests of HLS viewers, by shard.
    public var lastHits: [UInt8: LastHits] = [:]
    /// The counters that belong to no room; nil when unchanged.
    public var counters: RunCounters?
    /// Rows that were dropped beyond the limits.
    public var dropped = 0

    /// Creates an empty batch.
    public init(asOf: Int64 = 0) {
        self.asOf = asOf
    }

    /// The number of rows to write.
    public var count: Int { sessions.count + gaps.count + moves.count + minutes.count + peaks.count + broadcasts.count }

    mutating func add(_ row: SessionRow) {
        guard sessions.count < Self.sessionLimit || sessions[row.code] != nil else {
            dropped += 1
            return
        }
        var row = row
        // The estimate is in the first row of a session only.
        row.estimate = row.estimate ?? sessions[row.code]?.estimate
        // The database has the first of the starts that were reported.
        if let before = sessions[row.code], [row.start, row.previousStart].contains(before.start) {
            row.previousStart = before.previousStart ?? row.previousStart
        }
        sessions[row.code] = row
    }

    mutating func add(_ row: GapRow) {
        guard gaps.count < Self.sessionLimit else {
            dropped += 1
            return
        }
        gaps.append(row)
    }

    mutating func add(_ row: MoveRow) {
        guard moves.count < Self.sessionLimit else {
            dropped += 1
            return
        }
        moves.append(row)
    }

    mutating func add(_ row: MinuteRow) {
        guard minutes[row.key] == nil else {
            minutes[row.key]?.append(row)
            return
        }
        guard minutes.count < Self.minuteLimit else {
            dropped += 1
            return
        }
        minutes[row.key] = row
    }

    mutating func add(_ peak: GroupPeak, _ most: Int) {
        guard peaks.count < Self.minuteLimit || peaks[peak] != nil else {
            dropped += 1
            return
        }
        peaks[peak] = max(peaks[peak] ?? 0, most)
    }

    /// Appends a later batch after this one could not be written.
    public mutating func append(_ later: HistoryBatch) {
        asOf = later.asOf
        for row in later.sessions.values { add(row) }
        for row in later.gaps { add(row) }
        for row in later.moves { add(row) }
        for row in later.minutes.values { add(row) }
        for (peak, most) in later.peaks { add(peak, most) }
        broadcasts.merge(later.broadcasts) { $1 }
        lastHits.merge(later.lastHits) { $1 }
        counters = later.counters ?? counters
        dropped += later.dropped
    }
}

/// Identifies the peak of a viewer group in a minute.
public struct GroupPeak: Sendable, Hashable {
    /// The epoch of the broadcast; 0 for all rooms together.
    public var epoch: Int64
    /// Minutes since 1970.
    public var minute: Int64
    /// The group of viewers.
    public var group: ViewerGroup

    /// Creates a key.
    public init(epoch: Int64, minute: Int64, group: ViewerGroup) {
        self.epoch = epoch
        self.minute = minute
        self.group = group
    }
}

/// The times of the last requests of one shard's HLS viewers.
///
/// A row for every request would be too much to write, so the ages of a whole shard are written each second, two bytes
/// each. With them the next run tells viewers who left shortly before a kill from those who watched.
public struct LastHits: Sendable, Equatable {
    /// The age of a table index without an HLS viewer.
    static let vacant = UInt16.max

    /// The reference time of the ages, in milliseconds since 1970.
    public var asOf: Int64
    /// Milliseconds since the last request, by the session's index in the shard's table; `UInt16.max` where there is
    /// none.
    public var ages: [UInt16]

    /// Creates the ages at a time.
    public init(asOf: Int64, ages: [UInt16]) {
        self.asOf = asOf
        self.ages = ages
    }

    /// Encodes an age.
    static func age(_ milliseconds: Int64) -> UInt16 {
        UInt16(min(max(milliseconds, 0), Int64(vacant) - 1))
    }

    /// Returns the last request of the session at an index, in milliseconds since 1970; nil when unknown.
    func moment(of index: Int?) -> Int64? {
        guard let index, ages.indices.contains(index), ages[index] != Self.vacant else { return nil }
        return asOf - Int64(ages[index])
    }
}

/// Counters that belong to no room; a restart continues them, so that they never decrease.
public struct RunCounters: Sendable, Equatable, Codable {
    /// The startup times of viewers.
    public var startups: StartupHistogram
    /// Playlist and segment requests of viewers, and player reports.
    public var requests: Int
    /// The lag of CDN logs, in milliseconds; nil without logs.
    public var logLag: Int64?

    private enum CodingKeys: String, CodingKey {
        case startups
        case requests = "beats"
        case logLag
    }

    /// The maximum that a run adopts of an earlier counter, so that sums do not overflow.
    static let maximum = 1 << 50

    /// The maximum lag of logs, in milliseconds: one hour.
    static let maximumLag: Int64 = 3_600_000

    /// Creates counters.
    public init(startups: StartupHistogram = .init(), requests: Int = 0, logLag: Int64? = nil) {
        self.startups = startups
        self.requests = requests
        self.logLag = logLag
    }
}

/// A histogram of startup times for the metrics endpoint.
public struct StartupHistogram: Sendable, Equatable, Codable {
    /// Upper bounds of the buckets, in seconds.
    public static let bounds = [0.1, 0.25, 0.5, 1, 2, 3, 5, 10, 30]

    /// Viewers by bucket; the last one is unbounded.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of all startup times, in seconds.
    public private(set) var sum = 0.0

    /// Creates an empty histogram.
    public init() {}

    /// Adds the counts of an earlier run; ignores other buckets and impossible counts.
    mutating func add(_ earlier: StartupHistogram) {
        guard earlier.counts.count == counts.count,
            earlier.counts.allSatisfy({ (0...RunCounters.maximum).contains($0) })
        else { return }
        for index in counts.indices { counts[index] += earlier.counts[index] }
        sum += earlier.sum
    }

    mutating func insert(_ milliseconds: Int64) {
        let seconds = Double(milliseconds) / 1000
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        sum += seconds
    }
}
