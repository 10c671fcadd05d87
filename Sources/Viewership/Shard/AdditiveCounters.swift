import Stage

/// Counters that are added and subtracted together, by one function over all of them.
protocol AdditiveCounters: AdditiveArithmetic, Sendable {
    /// Adds each counter of `other`, multiplied by `factor`.
    mutating func add(_ other: Self, times factor: Int)
}

extension AdditiveCounters {
    static func + (one: Self, other: Self) -> Self {
        var sum = one
        sum.add(other, times: 1)
        return sum
    }

    static func - (one: Self, other: Self) -> Self {
        var difference = one
        difference.add(other, times: -1)
        return difference
    }

    static func += (one: inout Self, other: Self) {
        one.add(other, times: 1)
    }

    static func -= (one: inout Self, other: Self) {
        one.add(other, times: -1)
    }
}

/// One counter per close reason.
struct CloseReasonCounters: AdditiveCounters {
    static let allReasons: [AudienceEvent.CloseReason] = [.left, .timedOut, .tooSlow, .roomEnded, .shutdown]
    static let zero = CloseReasonCounters()

    private var left = 0
    private var timedOut = 0
    private var tooSlow = 0
    private var roomEnded = 0
    private var shutdown = 0

    /// Returns the index of a reason in `allReasons`.
    static func index(of reason: AudienceEvent.CloseReason) -> Int {
        switch reason {
        case .left: 0
        case .timedOut: 1
        case .tooSlow: 2
        case .roomEnded: 3
        case .shutdown: 4
        }
    }

    var sum: Int { left + timedOut + tooSlow + roomEnded + shutdown }

    subscript(reason: AudienceEvent.CloseReason) -> Int {
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

    mutating func add(_ other: CloseReasonCounters, times factor: Int) {
        for reason in Self.allReasons { self[reason] += factor * other[reason] }
    }
}

/// One counter per exclusion reason.
struct ExclusionCounters: AdditiveCounters {
    static let zero = ExclusionCounters()

    private var head = 0
    private var role = 0
    private var prefetch = 0
    private var agent = 0
    private var unqualified = 0
    private var surplus = 0
    private var noMedia = 0

    var sum: Int { ExclusionReason.allCases.reduce(0) { $0 + self[$1] } }

    subscript(reason: ExclusionReason) -> Int {
        get {
            switch reason {
            case .head: head
            case .role: role
            case .prefetch: prefetch
            case .agent: agent
            case .unqualified: unqualified
            case .surplus: surplus
            case .noMedia: noMedia
            }
        }
        set {
            switch reason {
            case .head: head = newValue
            case .role: role = newValue
            case .prefetch: prefetch = newValue
            case .agent: agent = newValue
            case .unqualified: unqualified = newValue
            case .surplus: surplus = newValue
            case .noMedia: noMedia = newValue
            }
        }
    }

    mutating func add(_ other: ExclusionCounters, times factor: Int) {
        for reason in ExclusionReason.allCases { self[reason] += factor * other[reason] }
    }
}
