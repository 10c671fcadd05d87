import Media
import Stage
import Testing

@testable import Mixer

@Suite("Program clock") struct ProgramClockTests {
    private func clock(_ rate: FrameRate = FrameRate(30), firstSample: Int64 = 0) -> ProgramClock {
        ProgramClock(
            anchor: ProgramAnchor(start: MonotonicTime(nanoseconds: 5_000_000_000), firstSample: firstSample),
            frameRate: rate
        )
    }

    /// Returns all steps that are due when time moves exactly to each moment the clock returns.
    private func run(_ clock: inout ProgramClock, for seconds: Double) -> [ProgramClock.Step] {
        var steps: [ProgramClock.Step] = []
        var now = clock.anchor.start
        let end = now.advanced(seconds: seconds)
        while true {
            let step = clock.next(at: now)
            if case .wait(let moment) = step {
                guard moment < end else { return steps }
                #expect(moment > now)
                now = moment
            } else {
                steps.append(step)
            }
        }
    }

    @Test("frames and quanta come at their samples, audio 32 ms ahead")
    func steady() {
        var clock = clock()
        let steps = run(&clock, for: 10)
        var frames: [Int64] = []
        var quanta: [Int64] = []
        for step in steps {
            switch step {
            case .frame(let index, let sample, let isLate):
                #expect(sample == index * 1600)
                #expect(!isLate)
                frames.append(index)
            case .audio(let first): quanta.append(first)
            case .wait, .jump: Issue.record("\(step)")
            }
        }
        #expect(frames == Array(0..<300))
        #expect(quanta == (0..<942).map { $0 * 512 - 272 })
        // The limiter's output of each quantum ends on an AAC frame boundary or in the middle of a frame.
        #expect(quanta.allSatisfy { ($0 + 512 - Int64(Limiter.lookAhead)) % 512 == 0 })
    }

    @Test("29.97 frames a second stay exact for a day")
    func ntsc() {
        let rate = FrameRate(30000, per: 1001)
        // A frame of the next day: 24 h x 3600 s x 30000 / 1001.
        let index: Int64 = 2_589_410
        let clock = clock(rate, firstSample: rate.sample(ofFrame: index))
        #expect(clock.nextFrame == index)
        #expect(rate.sample(ofFrame: index) == index * 8008 / 5)
        // 86 399.980... s; adding rounded durations would be off by more than a second.
        #expect(ProgramTime.milliseconds(ofSample: rate.sample(ofFrame: index)) == index * 1001 / 30)
        for step in 0..<1000 {
            let time = ProgramTime.milliseconds(ofSample: rate.sample(ofFrame: index + Int64(step)))
            #expect(abs(Double(time) - Double(index + Int64(step)) * 1001 / 30) <= 1)
        }
    }

    @Test("a program that takes over begins at its first sample, on the next frame")
    func takenOver() {
        var clock = clock(firstSample: 48_000 * 3600 + 100)
        #expect(clock.nextQuantum == 48_000 * 3600 + 100 - 272)
        #expect(clock.nextFrame == 30 * 3600 + 1)
        let out1 = clock.next(at: clock.anchor.start)
        #expect(out1 == .audio(first: 48_000 * 3600 + 100 - 272))
    }

    @Test("a late caller repeats frames and mixes every quantum")
    func late() {
        var clock = clock()
        _ = run(&clock, for: 1)
        let (frame, quantum) = (clock.nextFrame, clock.nextQuantum)
        let now = clock.anchor.start.advanced(milliseconds: 1250)
        var steps: [ProgramClock.Step] = []
        while true {
            let step = clock.next(at: now)
            if case .wait = step { break }
            steps.append(step)
        }
        let frames = steps.compactMap { step -> (Int64, Bool)? in
            if case .frame(let index, _, let isLate) = step { (index, isLate) } else { nil }
        }
        #expect(frames.map(\.0) == Array(frame...37))
        #expect(frames.dropLast().allSatisfy { $0.1 })
        #expect(frames.last?.1 == false)
        let quanta = steps.compactMap { step -> Int64? in
            if case .audio(let first) = step { first } else { nil }
        }
        #expect(quanta == Array(stride(from: quantum, through: 1250 * 48 + 1536, by: 512)))
    }

    @Test("after more than a second of lateness the counter jumps forward onto both grids")
    func jump() {
        var clock = clock()
        _ = run(&clock, for: 2)
        let quantum = clock.nextQuantum
        let now = clock.anchor.start.advanced(milliseconds: 60_000)
        guard case .jump(let samples) = clock.next(at: now) else {
            Issue.record("no jump")
            return
        }
        #expect(samples > 57 * 48_000)
        #expect(clock.nextQuantum == quantum + samples)
        #expect((clock.nextQuantum + 272) % 512 == 0)
        #expect(clock.nextFrame == 1800)
        if case .jump = clock.next(at: now) { Issue.record("jumped twice") }
    }

    @Test("milliseconds round down on both sides of zero and do not overflow within a century")
    func milliseconds() {
        #expect(ProgramTime.milliseconds(ofSample: 47) == 0)
        #expect(ProgramTime.milliseconds(ofSample: 48) == 1)
        #expect(ProgramTime.milliseconds(ofSample: -1) == -1)
        #expect(ProgramTime.milliseconds(ofSample: -48) == -1)
        #expect(ProgramTime.milliseconds(ofSample: -1024) == -22)
        let century: Int64 = 100 * 366 * 86_400
        #expect(ProgramTime.milliseconds(ofSample: century * 48_000) == century * 1000)
    }
}
