import Media

/// Decides when gathered packets leave, so that a viewer costs few writes and a picture does not wait for nothing.
///
/// The tick is a least distance between two flushes, not a grid: a picture that comes when the last flush is long
/// enough ago leaves at once, and takes the sound gathered before it along. Sound alone waits a little longer than a
/// tick for a picture to travel with.
struct FlushPacing {
    enum Decision: Equatable {
        case now
        case at(MonotonicTime)
    }

    private let tick: Int64
    private var lastFlush: MonotonicTime?

    /// - Parameter tick: Nanoseconds; 0 lets every packet leave at once.
    init(tick: Int64) {
        self.tick = tick
    }

    /// When the packets gathered so far should leave, now that one more is there.
    func decide(isPicture: Bool, now: MonotonicTime) -> Decision {
        guard tick > 0 else { return .now }
        guard let lastFlush else { return isPicture ? .now : .at(now.later(tick)) }
        let elapsed = now.nanoseconds - lastFlush.nanoseconds
        if isPicture, elapsed >= tick * 3 / 4 { return .now }
        let due = lastFlush.later(isPicture ? tick : tick * 5 / 4)
        return due <= now ? .now : .at(due)
    }

    mutating func flushed(at now: MonotonicTime) {
        lastFlush = now
    }
}

extension MonotonicTime {
    fileprivate func later(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
