@testable import FanOut
import Media
import NIOCore
import Testing

@Suite("Flush throttle")
struct FlushThrottleTests {
    private static let tick: Int64 = 33_000_000
    private let start = MonotonicTime(nanoseconds: 10_000_000_000)

    @Test("flushes every packet at once without a tick")
    func noTick() {
        var throttle = FlushThrottle(tick: 0)
        throttle.flushed(at: start)
        #expect(throttle.decide(isVideoFrame: false, now: start) == .now)
    }

    @Test("flushes the first frame at once, and holds the first audio for one tick")
    func first() {
        var throttle = FlushThrottle(tick: Self.tick)
        #expect(throttle.decide(isVideoFrame: true, now: start) == .now)
        #expect(throttle.decide(isVideoFrame: false, now: start) == .at(start.advanced(milliseconds: 33)))
    }

    @Test("flushes frames at the pace of the tick at once, with the audio before them")
    func steadyFrames() {
        var throttle = FlushThrottle(tick: Self.tick)
        var now = start
        throttle.flushed(at: now)
        for _ in 0..<30 {
            #expect(throttle.decide(isVideoFrame: false, now: now.advanced(milliseconds: 15)) != .now)
            now = now.advanced(milliseconds: 33)
            #expect(throttle.decide(isVideoFrame: true, now: now) == .now)
            throttle.flushed(at: now)
        }
    }

    @Test("holds an early frame until one tick after the last flush")
    func tooSoon() {
        var throttle = FlushThrottle(tick: Self.tick)
        throttle.flushed(at: start)
        let now = start.advanced(milliseconds: 10)
        #expect(throttle.decide(isVideoFrame: true, now: now) == .at(start.advanced(milliseconds: 33)))
    }

    @Test("holds audio without video until five quarters of a tick after the last flush")
    func audioOnly() {
        var throttle = FlushThrottle(tick: Self.tick)
        throttle.flushed(at: start)
        let due = MonotonicTime(nanoseconds: start.nanoseconds + Self.tick * 5 / 4)
        #expect(throttle.decide(isVideoFrame: false, now: start.advanced(milliseconds: 20)) == .at(due))
        #expect(throttle.decide(isVideoFrame: false, now: start.advanced(milliseconds: 50)) == .now)
    }

    @Test("one late flush does not delay the following frames")
    func lateOnce() {
        var throttle = FlushThrottle(tick: Self.tick)
        throttle.flushed(at: start)
        let late = start.advanced(milliseconds: 33 + 15)
        throttle.flushed(at: late)
        for index in 2..<40 {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Int64(index) * 33_333_333)
            #expect(throttle.decide(isVideoFrame: true, now: now) == .now)
            throttle.flushed(at: now)
        }
    }

    @Test("flushes frames in pairs by default, none delayed by more than a frame", arguments: [24, 25, 30])
    func pairs(rate: Int64) {
        var throttle = FlushThrottle(tick: FanOutConfiguration().tick.nanoseconds)
        let interval = 1_000_000_000 / rate
        var gathered: [MonotonicTime] = []
        var waits: [Int64] = []
        var due: MonotonicTime?
        var flushes = 0
        func flush(at now: MonotonicTime) {
            throttle.flushed(at: now)
            waits += gathered.map { now.nanoseconds - $0.nanoseconds }
            gathered = []
            due = nil
            flushes += 1
        }
        for index in 0..<600 {
            // Up to three milliseconds early or late.
            let jitter = Int64(index * 7919 % 7 - 3) * 1_000_000
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Int64(index) * interval + jitter)
            if let moment = due, moment <= now { flush(at: moment) }
            gathered.append(now)
            switch throttle.decide(isVideoFrame: true, now: now) {
            case .now: flush(at: now)
            case .at(let moment): due = due ?? moment
            }
        }
        #expect(flushes < 330)
        #expect(waits.max().map { $0 <= interval + 6_000_000 } == true)
        #expect(waits.reduce(0, +) / Int64(waits.count) <= interval / 2 + 1_000_000)
    }

    /// Packets as a mixer sends them: audio every 21 ms, and each frame with the first audio that ends after it.
    private static func mixed(rate: Int64) -> [(isVideoFrame: Bool, at: Int64)] {
        let frame: Int64 = 21_333_333
        var packets = (0..<500).map { (isVideoFrame: false, at: Int64($0) * frame + 1) }
        for index in 0..<(rate * 10) {
            // Encoding takes six milliseconds.
            let due = index * 1_000_000_000 / rate + 6_000_000
            packets.append((isVideoFrame: true, at: (due + frame - 1) / frame * frame))
        }
        return packets.sorted { $0.at < $1.at }
    }

    @Test(
        "does not hold frames because of audio flushed alone, with uneven frame intervals",
        arguments: [15, 20, 24, 25, 30]
    )
    func withAudio(rate: Int64) {
        var throttle = FlushThrottle(tick: Self.tick)
        var frameTimes: [Int64] = []
        var waits: [Int64] = []
        var due: MonotonicTime?
        var flushes = 0
        func flush(at now: MonotonicTime) {
            throttle.flushed(at: now)
            waits += frameTimes.map { now.nanoseconds - start.nanoseconds - $0 }
            frameTimes = []
            due = nil
            flushes += 1
        }
        for (isVideoFrame, at) in Self.mixed(rate: rate) {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + at)
            if let moment = due, moment <= now { flush(at: moment) }
            if isVideoFrame { frameTimes.append(at) }
            switch throttle.decide(isVideoFrame: isVideoFrame, now: now) {
            case .now: flush(at: now)
            case .at(let moment): due = due ?? moment
            }
        }
        #expect(waits.count == Int(rate) * 10)
        let held = waits.count { $0 > 0 }
        #expect(held <= 3, "\(held) of \(waits.count)")
        // The audio lasts 323 ticks, which is the maximum number of writes.
        #expect(flushes <= 323, "\(flushes)")
    }

    @Test("flushes a held frame after one and a half ticks if the next frame does not come")
    func gap() {
        var throttle = FlushThrottle(tick: 66_000_000)
        let first = throttle.decide(isVideoFrame: true, now: start)
        #expect(first == .now)
        throttle.flushed(at: start)
        let held = throttle.decide(isVideoFrame: true, now: start.advanced(milliseconds: 33))
        #expect(held == .at(start.advanced(milliseconds: 99)))
    }

    @Test("flushes frames at twice the pace in pairs")
    func twiceThePace() {
        var throttle = FlushThrottle(tick: Self.tick)
        var flushes = 0
        var due: MonotonicTime?
        for index in 0..<600 {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Int64(index) * 16_666_667)
            if let moment = due, moment <= now {
                throttle.flushed(at: moment)
                flushes += 1
                due = nil
            }
            switch throttle.decide(isVideoFrame: true, now: now) {
            case .now:
                throttle.flushed(at: now)
                flushes += 1
                due = nil
            case .at(let moment): due = moment
            }
        }
        // Ten seconds have 303 ticks; a flush may be a quarter of a tick early, but not twice per tick.
        #expect(flushes <= 405)
        #expect(flushes >= 295)
    }
}
