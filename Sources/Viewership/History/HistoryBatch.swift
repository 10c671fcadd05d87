/// What changed since the last batch, to be written in one transaction.
public struct HistoryBatch: Sendable {
    /// Sessions that wait at most; of what comes beyond only the counts are kept.
    static let sessionLimit = 500_000
    /// Parts of minutes that wait at most: hours of many rooms, days of a few.
    static let minuteLimit = 500_000

    /// The moment it is of, milliseconds since 1970.
    public var asOf: Int64
    /// The latest state of each session, by its proof.
    public var sessions: [UInt64: SessionRow] = [:]
    /// Absences that ended.
    public var gaps: [GapRow] = []
    /// Changes of rendition and protocol.
    public var moves: [MoveRow] = []
    /// Parts of minutes, by what they are of.
    public var minutes: [MinuteRow.Key: MinuteRow] = [:]
    /// The most at once of groups of viewers, by minute.
    public var peaks: [GroupPeak: Int] = [:]
    /// Broadcasts by their number.
    public var broadcasts: [Int64: BroadcastRow] = [:]
    /// When viewers by requests were last heard of, by shard.
    public var lastHits: [UInt8: LastHits] = [:]
    /// What is counted of no room; nil where nobody looked.
    public var counters: RunCounters?
    /// Rows that found no space.
    public var dropped = 0

    /// Nothing yet.
    public init(asOf: Int64 = 0) {
        self.asOf = asOf
    }

    /// Rows that are to be written.
    public var count: Int { sessions.count + gaps.count + moves.count + minutes.count + peaks.count + broadcasts.count }

    mutating func add(_ row: SessionRow) {
        guard sessions.count < Self.sessionLimit || sessions[row.code] != nil else {
            dropped += 1
            return
        }
        var row = row
        // It is said once, when the session joins.
        row.estimate = row.estimate ?? sessions[row.code]?.estimate
        // What is on disk has the first of the starts that were told.
        if let before = sessions[row.code], [row.start, row.formerStart].contains(before.start) {
            row.formerStart = before.formerStart ?? row.formerStart
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

    /// Takes in what came later, when this one could not be written.
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
