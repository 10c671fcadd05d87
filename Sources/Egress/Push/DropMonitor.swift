import Media

/// Detects a target that accepts data but is too slow for the program; without I/O.
///
/// It evaluates the share of dropped frames in windows of time. A single bad window is ignored, because the send queue
/// absorbs short stalls. A window without frames counts neither way.
struct DropMonitor: Sendable {
    /// Frame counters of a push, over all of its connections.
    struct FrameCounts: Sendable, Equatable {
        /// Frames to be sent.
        var offered: UInt64 = 0
        /// Frames of these that were dropped.
        var dropped: UInt64 = 0
    }

    /// The thresholds of a slow target.
    struct Limits: Sendable, Equatable {
        /// The length of a window in seconds.
        var window = 5.0
        /// The share of dropped frames in a window from which the target counts as slow.
        var slowPart = 0.05
        /// The share of dropped frames above which the stream is not worth watching.
        var failingPart = 0.5
        /// Consecutive windows after which a target counts as slow, or as keeping up again.
        var windows = 3
        /// Consecutive windows above `failingPart` after which the connection is closed.
        var endurance = 6
    }

    /// The result of a window.
    enum Change: Sendable, Equatable {
        case isSlow
        case keepsUp
        /// The connection should be closed: another connection or address may do better.
        case isFailing
    }

    /// Whether the target is slow; kept across connections until one keeps up.
    private(set) var isSlow = false
    /// Whether the current connection should be closed.
    private(set) var isFailing = false
    private let limits: Limits
    /// The start of the current window; nil before the first update of a connection.
    private var start: (time: MonotonicTime, frames: FrameCounts)?
    /// Consecutive windows of the current connection, as are the next two.
    private var slowWindows = 0
    private var failingWindows = 0
    private var cleanWindows = 0

    init(limits: Limits) {
        self.limits = limits
    }

    /// Starts a connection with new windows.
    mutating func begin() {
        isFailing = false
        start = nil
        (slowWindows, failingWindows, cleanWindows) = (0, 0, 0)
    }

    /// Updates the totals, about once a second while connected.
    mutating func update(with frames: FrameCounts, now: MonotonicTime) -> Change? {
        guard let start else {
            self.start = (now, frames)
            return nil
        }
        guard now.seconds(since: start.time) >= limits.window else { return nil }
        self.start = (now, frames)
        let offered = frames.offered - start.frames.offered
        let dropped = frames.dropped - start.frames.dropped
        guard offered > 0 || dropped > 0 else { return nil }
        // Some of the dropped frames were offered in the previous window.
        return judge(part: offered > 0 ? Double(dropped) / Double(offered) : 1)
    }

    private mutating func judge(part: Double) -> Change? {
        slowWindows = part >= limits.slowPart ? slowWindows + 1 : 0
        failingWindows = part > limits.failingPart ? failingWindows + 1 : 0
        cleanWindows = part == 0 ? cleanWindows + 1 : 0
        if failingWindows >= limits.endurance, !isFailing {
            isFailing = true
            return .isFailing
        }
        if isSlow, cleanWindows >= limits.windows {
            isSlow = false
            return .keepsUp
        }
        if !isSlow, slowWindows >= limits.windows {
            isSlow = true
            return .isSlow
        }
        return nil
    }
}

/// Distinguishes a slow target from one that accepts no data at all.
struct StallDetector: Sendable {
    /// Seconds without progress after which the target counts as stalled.
    let limit: Double
    /// Acknowledged bytes that count as progress.
    let step: Int
    private var lastBytes = 0
    private var lastTime: MonotonicTime

    init(limit: Double, step: Int, now: MonotonicTime) {
        self.limit = limit
        self.step = step
        lastTime = now
    }

    /// Whether the target makes progress: false when data waited for `limit` with less than `step` bytes acknowledged.
    mutating func isMoving(acknowledged: Int, unsent: Int, now: MonotonicTime) -> Bool {
        if unsent == 0 || acknowledged - lastBytes >= step {
            lastBytes = acknowledged
            lastTime = now
            return true
        }
        return now.seconds(since: lastTime) < limit
    }
}
