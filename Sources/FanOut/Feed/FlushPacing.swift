import Media

/// Decides when gathered packets leave, so that a viewer costs few writes and a picture does not wait for nothing.
///
/// The tick is a least distance between two flushes, not a grid: a picture that comes when the last flush is long
/// enough ago leaves at once, and takes what was gathered before it along. One that comes sooner waits for the next
/// picture if that is due within one and a half ticks, so that both leave together at the program's own pace; otherwise
/// for the end of the tick. Sound alone waits for a picture to travel with: where there are pictures for one and a half
/// ticks, for they leave a mixer with the sound beside them, and so one or two of its frames of 21 ms after each other.
///
/// Pictures are measured from `place`, which goes on by a step with each flush and follows a late one only half a tick.
/// Measured from the late flush itself, the next picture would seem to come too soon and would be held in turn, and one
/// stall would keep the whole stream late for seconds. Sound that left alone holds up no picture: the one that it did
/// not wait for comes right after it.
struct FlushPacing {
    enum Decision: Equatable {
        case now
        case at(MonotonicTime)
    }

    private enum Gathered {
        case sound
        case pictures
    }

    /// Nanoseconds; 0 lets every packet leave at once.
    var tick: Int64
    private var lastFlush: MonotonicTime?
    /// Where the last flush belongs that had a picture: at most half a tick before it, never after it.
    private var place: MonotonicTime?
    /// What was gathered since the last flush.
    private var gathered: Gathered?
    private var lastPicture: MonotonicTime?
    /// Nanoseconds from one picture to the next, smoothed; nil before the second.
    private var pictureInterval: Int64?

    init(tick: Int64) {
        self.tick = tick
    }

    /// When the packets gathered so far should leave, now that one more is there.
    mutating func decide(isPicture: Bool, now: MonotonicTime) -> Decision {
        guard tick > 0 else { return .now }
        if isPicture { notePicture(at: now) }
        if gathered != .pictures { gathered = isPicture ? .pictures : .sound }
        guard let lastFlush, let place else { return isPicture ? .now : .at(now.later(tick)) }
        if isPicture, now.nanoseconds - place.nanoseconds >= tick * 3 / 4 { return .now }
        let due = isPicture ? end(of: place, holding: now) : end(of: lastFlush)
        return due <= now ? .now : .at(due)
    }

    /// The moment up to which a picture that comes at `picture`, too soon after a flush at `place`, is held.
    private func end(of place: MonotonicTime, holding picture: MonotonicTime) -> MonotonicTime {
        let longest = place.later(tick * 3 / 2)
        guard let pictureInterval, picture.later(pictureInterval) <= longest else { return place.later(tick) }
        return longest
    }

    /// The moment up to which sound is held after a flush at `flush`.
    private func end(of flush: MonotonicTime) -> MonotonicTime {
        flush.later(pictureInterval == nil ? tick * 5 / 4 : tick * 3 / 2)
    }

    private mutating func notePicture(at now: MonotonicTime) {
        defer { lastPicture = now }
        guard let lastPicture else { return }
        // Beyond a few ticks it is a gap and no pace.
        let interval = min(now.nanoseconds - lastPicture.nanoseconds, tick * 4)
        pictureInterval = pictureInterval.map { ($0 * 7 + interval) / 8 } ?? interval
    }

    mutating func flushed(at now: MonotonicTime) {
        lastFlush = now
        defer { gathered = nil }
        guard gathered != .sound || place == nil else { return }
        let next = place?.later(step) ?? now
        place = min(now, max(next, now.later(-tick / 2)))
    }

    /// From one flush to the next: as many pictures' time as it takes to be no less than most of a tick.
    private var step: Int64 {
        guard let pictureInterval, pictureInterval > 0 else { return tick }
        let pictures = (tick * 3 / 4 + pictureInterval - 1) / pictureInterval
        return max(tick, pictures * pictureInterval)
    }
}

extension MonotonicTime {
    fileprivate func later(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
