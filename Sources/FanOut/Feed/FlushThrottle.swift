import Media

/// Decides when gathered packets are flushed, so that a viewer costs few writes and no frame waits needlessly.
///
/// The tick is a minimum distance between two flushes, not a grid. A frame that comes when the last flush is long
/// enough ago is flushed at once, with everything gathered before it. A frame that comes sooner waits for the next
/// one if that is due within one and a half ticks, so that both leave together at the frame rate; otherwise it waits
/// for the end of the tick. Audio alone waits for a video frame: for one and a half ticks if there is video, because
/// a mixer sends both together and so one or two audio frames of 21 ms in a row.
///
/// Frames are measured from `flushSlot`, which advances by a step with each flush and follows a late flush by at most
/// half a tick. Measured from the late flush itself, the next frame would seem early and be held in turn, so that one
/// stall would delay the whole stream for seconds. Audio that was flushed alone delays no frame: the frame that it
/// did not wait for follows right after it.
struct FlushThrottle {
    enum Decision: Equatable {
        case now
        case at(MonotonicTime)
    }

    private enum Gathered {
        case audio
        case frames
    }

    /// The minimum time between flushes in nanoseconds; 0 flushes every packet at once.
    var tick: Int64
    private var lastFlush: MonotonicTime?
    /// The nominal time of the last flush with a frame: at most half a tick before the real one, never after it.
    private var flushSlot: MonotonicTime?
    /// The media gathered since the last flush.
    private var gathered: Gathered?
    private var lastFrame: MonotonicTime?
    /// The smoothed frame interval in nanoseconds; nil before the second frame.
    private var frameInterval: Int64?

    init(tick: Int64) {
        self.tick = tick
    }

    /// Decides when to flush the gathered packets, after one more packet.
    mutating func decide(isVideoFrame: Bool, now: MonotonicTime) -> Decision {
        guard tick > 0 else { return .now }
        if isVideoFrame { recordFrame(at: now) }
        if gathered != .frames { gathered = isVideoFrame ? .frames : .audio }
        guard let lastFlush, let flushSlot else { return isVideoFrame ? .now : .at(now.later(tick)) }
        if isVideoFrame, now.nanoseconds - flushSlot.nanoseconds >= tick * 3 / 4 { return .now }
        let due = isVideoFrame ? end(of: flushSlot, holding: now) : end(of: lastFlush)
        return due <= now ? .now : .at(due)
    }

    /// The time until which `frame`, which came too soon after `flushSlot`, is held.
    private func end(of flushSlot: MonotonicTime, holding frame: MonotonicTime) -> MonotonicTime {
        let longest = flushSlot.later(tick * 3 / 2)
        guard let frameInterval, frame.later(frameInterval) <= longest else { return flushSlot.later(tick) }
        return longest
    }

    /// The time until which audio is held after a flush.
    private func end(of flush: MonotonicTime) -> MonotonicTime {
        flush.later(frameInterval == nil ? tick * 5 / 4 : tick * 3 / 2)
    }

    private mutating func recordFrame(at now: MonotonicTime) {
        defer { lastFrame = now }
        guard let lastFrame else { return }
        // A longer interval is a gap, not a frame rate.
        let interval = min(now.nanoseconds - lastFrame.nanoseconds, tick * 4)
        frameInterval = frameInterval.map { ($0 * 7 + interval) / 8 } ?? interval
    }

    mutating func flushed(at now: MonotonicTime) {
        lastFlush = now
        defer { gathered = nil }
        guard gathered != .audio || flushSlot == nil else { return }
        let next = flushSlot?.later(step) ?? now
        flushSlot = min(now, max(next, now.later(-tick / 2)))
    }

    /// The advance of `flushSlot` per flush: as many frame intervals as reach three quarters of a tick, at least a
    /// tick.
    private var step: Int64 {
        guard let frameInterval, frameInterval > 0 else { return tick }
        let frames = (tick * 3 / 4 + frameInterval - 1) / frameInterval
        return max(tick, frames * frameInterval)
    }
}

extension MonotonicTime {
    fileprivate func later(_ nanoseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: self.nanoseconds + nanoseconds)
    }
}
