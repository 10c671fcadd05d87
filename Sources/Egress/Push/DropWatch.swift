import Media

/// Tells a target that is too slow for the program, though it goes on taking data, from one that keeps up: rules alone.
///
/// It looks at windows of time, by the part of their pictures that was given up. A single bad window is nothing: lines
/// have their moments, and the queue is there for them. What a window without any pictures means nobody knows, so it
/// counts neither way.
struct DropWatch: Sendable {
    /// Running totals of a push's pictures, over all of its connections.
    struct Pictures: Sendable, Equatable {
        /// Those that were to be sent.
        var offered: UInt64 = 0
        /// Those of them that were given up.
        var dropped: UInt64 = 0
    }

    /// What counts as slow, and for how long it must last.
    struct Limits: Sendable, Equatable {
        /// Seconds of a window.
        var window = 5.0
        /// Part of a window's pictures: with so many given up, or more, the target is slow.
        var slowPart = 0.05
        /// With more than this part given up, what arrives is not worth watching.
        var hopelessPart = 0.5
        /// Windows in a row that make a target slow, or one that keeps up.
        var patience = 3
        /// Windows in a row after which a connection is given up.
        var endurance = 6
    }

    /// What a look led to.
    enum Change: Sendable, Equatable {
        case isSlow
        case keepsUp
        /// Another connection, or another address, may do better than this one.
        case isHopeless
    }

    /// The target is slow; so it stays over connections, until one keeps up.
    private(set) var isSlow = false
    /// The present connection was given up.
    private(set) var isHopeless = false
    private let limits: Limits
    /// Where the present window began; nil before a connection's first look.
    private var start: (time: MonotonicTime, pictures: Pictures)?
    /// Windows in a row, of the present connection, as are the next two.
    private var slowWindows = 0
    private var hopelessWindows = 0
    private var cleanWindows = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// A connection was made, and its windows begin anew.
    mutating func begin() {
        isHopeless = false
        start = nil
        (slowWindows, hopelessWindows, cleanWindows) = (0, 0, 0)
    }

    /// Looks at the totals, about once a second while there is a connection.
    mutating func look(at pictures: Pictures, now: MonotonicTime) -> Change? {
        guard let start else {
            self.start = (now, pictures)
            return nil
        }
        guard now.seconds(since: start.time) >= limits.window else { return nil }
        self.start = (now, pictures)
        let offered = pictures.offered - start.pictures.offered
        let dropped = pictures.dropped - start.pictures.dropped
        guard offered > 0 || dropped > 0 else { return nil }
        // Some of what is given up came in the window before.
        return judge(part: offered > 0 ? Double(dropped) / Double(offered) : 1)
    }

    private mutating func judge(part: Double) -> Change? {
        slowWindows = part >= limits.slowPart ? slowWindows + 1 : 0
        hopelessWindows = part > limits.hopelessPart ? hopelessWindows + 1 : 0
        cleanWindows = part == 0 ? cleanWindows + 1 : 0
        if hopelessWindows >= limits.endurance, !isHopeless {
            isHopeless = true
            return .isHopeless
        }
        if isSlow, cleanWindows >= limits.patience {
            isSlow = false
            return .keepsUp
        }
        if !isSlow, slowWindows >= limits.patience {
            isSlow = true
            return .isSlow
        }
        return nil
    }
}
