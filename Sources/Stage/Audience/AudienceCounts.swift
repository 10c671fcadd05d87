/// The counts of an audience: in one cell, minute, group or broadcast, or over all rooms.
public struct AudienceCounts: AdditiveCounters {
    /// No audience.
    public static let zero = AudienceCounts()

    /// Qualified sessions; a return within the grace time is not a second join.
    public var joins = 0
    /// Sessions that ended for good, by reason.
    public var leaves = CloseReasonCounters.zero
    /// Switches of rendition or protocol.
    public var switches = 0
    /// Watch time, in milliseconds.
    public var watched: Int64 = 0
    /// Rebuffering time that players reported, in milliseconds.
    public var stalled: Int64 = 0
    /// The sum of known startup times, in milliseconds.
    public var startup: Int64 = 0
    /// The number of startup times in `startup`.
    public var startups = 0

    /// Creates counts; zero by default.
    public init(
        joins: Int = 0,
        leaves: CloseReasonCounters = .zero,
        switches: Int = 0,
        watched: Int64 = 0,
        stalled: Int64 = 0,
        startup: Int64 = 0,
        startups: Int = 0
    ) {
        self.joins = joins
        self.leaves = leaves
        self.switches = switches
        self.watched = watched
        self.stalled = stalled
        self.startup = startup
        self.startups = startups
    }

    /// Adds each counter of `other`, multiplied by `factor`.
    public mutating func add(_ other: AudienceCounts, times factor: Int) {
        joins += factor * other.joins
        leaves.add(other.leaves, times: factor)
        switches += factor * other.switches
        watched += Int64(factor) * other.watched
        stalled += Int64(factor) * other.stalled
        startup += Int64(factor) * other.startup
        startups += factor * other.startups
    }
}

extension AudienceCounts {
    /// Watch time, in seconds.
    public var watchTimeSeconds: Double { Double(watched) / 1000 }
    /// Rebuffering time that players reported, in seconds.
    public var stalledSeconds: Double { Double(stalled) / 1000 }
    /// The average of the known startup times, in seconds; nil without any.
    public var averageStartupSeconds: Double? {
        startups > 0 ? Double(startup) / 1000 / Double(startups) : nil
    }
    /// The average watch time of a join, in seconds; 0 without joins.
    public var averageWatchSeconds: Double { joins > 0 ? watchTimeSeconds / Double(joins) : 0 }
    /// The share of rebuffering in the watch time, which includes it, but not pauses.
    public var rebufferRatio: Double { stalled > 0 ? Double(stalled) / Double(max(watched, stalled)) : 0 }
}

/// One counter per close reason.
public struct CloseReasonCounters: AdditiveCounters {
    /// The reasons, in the order of the stored columns.
    public static let allReasons: [AudienceEvent.CloseReason] = [.left, .timedOut, .tooSlow, .roomEnded, .shutdown]
    /// No leaves.
    public static let zero = CloseReasonCounters()

    private var left = 0
    private var timedOut = 0
    private var tooSlow = 0
    private var roomEnded = 0
    private var shutdown = 0

    /// Returns the index of a reason in `allReasons`.
    public static func index(of reason: AudienceEvent.CloseReason) -> Int {
        switch reason {
        case .left: 0
        case .timedOut: 1
        case .tooSlow: 2
        case .roomEnded: 3
        case .shutdown: 4
        }
    }

    /// The sum over all reasons.
    public var sum: Int { left + timedOut + tooSlow + roomEnded + shutdown }

    /// The counter of one reason.
    public subscript(reason: AudienceEvent.CloseReason) -> Int {
        get {
            switch reason {
            case .left: left
            case .timedOut: timedOut
            case .tooSlow: tooSlow
            case .roomEnded: roomEnded
            case .shutdown: shutdown
            }
        }
        set {
            switch reason {
            case .left: left = newValue
            case .timedOut: timedOut = newValue
            case .tooSlow: tooSlow = newValue
            case .roomEnded: roomEnded = newValue
            case .shutdown: shutdown = newValue
            }
        }
    }

    /// Adds each counter of `other`, multiplied by `factor`.
    public mutating func add(_ other: CloseReasonCounters, times factor: Int) {
        for reason in Self.allReasons { self[reason] += factor * other[reason] }
    }
}

/// Counters that are added and subtracted together, by one function over all of them.
public protocol AdditiveCounters: AdditiveArithmetic, Sendable {
    /// Adds each counter of `other`, multiplied by `factor`.
    mutating func add(_ other: Self, times factor: Int)
}

extension AdditiveCounters {
    /// Adds each counter.
    public static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.add(other, times: 1)
        return sum
    }

    /// Subtracts each counter.
    public static func - (one: Self, other: Self) -> Self {
        var difference = one
        difference.add(other, times: -1)
        return difference
    }

    /// Adds each counter in place.
    public static func += (one: inout Self, other: Self) {
        one.add(other, times: 1)
    }

    /// Subtracts each counter in place.
    public static func -= (one: inout Self, other: Self) {
        one.add(other, times: -1)
    }
}
