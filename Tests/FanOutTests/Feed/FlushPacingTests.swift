@testable import FanOut
import Media
import NIOCore
import Testing

@Suite("When gathered packets leave")
struct FlushPacingTests {
    private static let tick: Int64 = 33_000_000
    private let start = MonotonicTime(nanoseconds: 10_000_000_000)

    @Test("Without a tick every packet leaves at once")
    func noTick() {
        var pacing = FlushPacing(tick: 0)
        pacing.flushed(at: start)
        #expect(pacing.decide(isPicture: false, now: start) == .now)
    }

    @Test("The first picture leaves at once, the first sound waits a tick for one")
    func first() {
        var pacing = FlushPacing(tick: Self.tick)
        #expect(pacing.decide(isPicture: true, now: start) == .now)
        #expect(pacing.decide(isPicture: false, now: start) == .at(start.advanced(milliseconds: 33)))
    }

    @Test("A picture at the pace of the tick never waits, and takes the sound before it along")
    func steadyPictures() {
        var pacing = FlushPacing(tick: Self.tick)
        var now = start
        pacing.flushed(at: now)
        for _ in 0..<30 {
            #expect(pacing.decide(isPicture: false, now: now.advanced(milliseconds: 15)) != .now)
            now = now.advanced(milliseconds: 33)
            #expect(pacing.decide(isPicture: true, now: now) == .now)
            pacing.flushed(at: now)
        }
    }

    @Test("A picture that comes too soon waits until a tick after the last flush")
    func tooSoon() {
        var pacing = FlushPacing(tick: Self.tick)
        pacing.flushed(at: start)
        let now = start.advanced(milliseconds: 10)
        #expect(pacing.decide(isPicture: true, now: now) == .at(start.advanced(milliseconds: 33)))
    }

    @Test("Sound without pictures leaves five quarters of a tick after the last flush, or at once when that has passed")
    func soundAlone() {
        var pacing = FlushPacing(tick: Self.tick)
        pacing.flushed(at: start)
        let due = MonotonicTime(nanoseconds: start.nanoseconds + Self.tick * 5 / 4)
        #expect(pacing.decide(isPicture: false, now: start.advanced(milliseconds: 20)) == .at(due))
        #expect(pacing.decide(isPicture: false, now: start.advanced(milliseconds: 50)) == .now)
    }

    @Test("One late flush makes the pictures after it no later than they come")
    func lateOnce() {
        var pacing = FlushPacing(tick: Self.tick)
        pacing.flushed(at: start)
        let late = start.advanced(milliseconds: 33 + 15)
        pacing.flushed(at: late)
        for index in 2..<40 {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Int64(index) * 33_333_333)
            #expect(pacing.decide(isPicture: true, now: now) == .now)
            pacing.flushed(at: now)
        }
    }

    @Test("By default pictures leave two by two, none more than a picture late", arguments: [24, 25, 30])
    func pairs(rate: Int64) {
        var pacing = FlushPacing(tick: FanOutConfiguration().tick.nanoseconds)
        let interval = 1_000_000_000 / rate
        var gathered: [MonotonicTime] = []
        var waits: [Int64] = []
        var due: MonotonicTime?
        var flushes = 0
        func flush(at now: MonotonicTime) {
            pacing.flushed(at: now)
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
            switch pacing.decide(isPicture: true, now: now) {
            case .now: flush(at: now)
            case .at(let moment): due = due ?? moment
            }
        }
        #expect(flushes < 330)
        #expect(waits.max().map { $0 <= interval + 6_000_000 } == true)
        #expect(waits.reduce(0, +) / Int64(waits.count) <= interval / 2 + 1_000_000)
    }

    /// Packets as a mixer gives them out: sound every 21 ms, and each picture with the first sound that ends after it.
    private static func mixed(rate: Int64) -> [(isPicture: Bool, at: Int64)] {
        let frame: Int64 = 21_333_333
        var packets = (0..<500).map { (isPicture: false, at: Int64($0) * frame + 1) }
        for index in 0..<(rate * 10) {
            // Coding takes six milliseconds.
            let due = index * 1_000_000_000 / rate + 6_000_000
            packets.append((isPicture: true, at: (due + frame - 1) / frame * frame))
        }
        return packets.sorted { $0.at < $1.at }
    }

    @Test(
        "Pictures that come with their sound, in unequal steps, are not held for the sake of sound that left alone",
        arguments: [15, 20, 24, 25, 30]
    )
    func withSound(rate: Int64) {
        var pacing = FlushPacing(tick: Self.tick)
        var pictures: [Int64] = []
        var waits: [Int64] = []
        var due: MonotonicTime?
        var flushes = 0
        func flush(at now: MonotonicTime) {
            pacing.flushed(at: now)
            waits += pictures.map { now.nanoseconds - start.nanoseconds - $0 }
            pictures = []
            due = nil
            flushes += 1
        }
        for (isPicture, at) in Self.mixed(rate: rate) {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + at)
            if let moment = due, moment <= now { flush(at: moment) }
            if isPicture { pictures.append(at) }
            switch pacing.decide(isPicture: isPicture, now: now) {
            case .now: flush(at: now)
            case .at(let moment): due = due ?? moment
            }
        }
        #expect(waits.count == Int(rate) * 10)
        let held = waits.count { $0 > 0 }
        #expect(held <= 3, "\(held) of \(waits.count)")
        // The time of the sound holds 323 ticks, and no more writes than that.
        #expect(flushes <= 323, "\(flushes)")
    }

    @Test("When the picture after a held one does not come, the held one leaves after one and a half ticks")
    func gap() {
        var pacing = FlushPacing(tick: 66_000_000)
        let first = pacing.decide(isPicture: true, now: start)
        #expect(first == .now)
        pacing.flushed(at: start)
        let held = pacing.decide(isPicture: true, now: start.advanced(milliseconds: 33))
        #expect(held == .at(start.advanced(milliseconds: 99)))
    }

    @Test("Pictures at twice the pace leave two by two for as long as they come")
    func twiceThePace() {
        var pacing = FlushPacing(tick: Self.tick)
        var flushes = 0
        var due: MonotonicTime?
        for index in 0..<600 {
            let now = MonotonicTime(nanoseconds: start.nanoseconds + Int64(index) * 16_666_667)
            if let moment = due, moment <= now {
                pacing.flushed(at: moment)
                flushes += 1
                due = nil
            }
            switch pacing.decide(isPicture: true, now: now) {
            case .now:
                pacing.flushed(at: now)
                flushes += 1
                due = nil
            case .at(let moment): due = moment
            }
        }
        // Ten seconds hold 303 ticks; a flush may come a quarter of a tick early, never twice in one.
        #expect(flushes <= 405)
        #expect(flushes >= 295)
    }
}
