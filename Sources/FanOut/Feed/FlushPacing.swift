import Media

/// Decides when gathered packets leave, so that a viewer costs few writes and a picture does not wait for nothing.
///
/// The tick is a least distance between two flushes, not a grid: a picture that comes when the last flush is long
/// enough ago leaves at once, and takes the sound gathered before it along. Sound alone waits a little longer than a
/// tick for a picture to travel with.
///
/// Pictures are measured from `place`, which goes on by a tick with each flush and follows a late one only half the way.
/// Measured from the late flush itself, the next picture would seem to come too soon and would be held in turn, and one
/// stall would keep the whole stream late for seconds.
struct FlushPacing {
    enum Decision: Equatable {
        case now
        case at(MonotonicTime)
    }

    private let tick: Int64
    private var lastFlush: MonotonicTime?
    /// Where the last flush belongs: at most half a tick before it, never after it.
    private var place: MonotonicTime?

    /// - Parameter tick: Nanoseconds; 0 lets every packet leave at once.
    init(tick: Int64) {
        self.tick = tick
    }

    /// When the packets gathered so far should leave, now that one more is there.
    func decide(isPicture: Bool, now: MonotonicTime) -> Decision {
        guard tick > 0 else { return .now }
        guard let lastFlush, let place else { return isPicture ? .now : .at(now.later(tick)) }
        if isPicture, now.nanoseconds - place.nanoseconds >= tick * 3 / 4 { return .now }
        let due = isPicture ? place.later(tick) : lastFlush.later(tick * 5 / 4)
        return due <= now ? .now : .at(due)
    }

    mutating func flushed(at now: MonotonicTime) {
        lastFlush = now
        let next = place?.later(tick) ?? now
        place = min(now, max(next, now.later(-tick / 2)))
    }
}

extension MonotonicTime {
    fileprivate func later(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
