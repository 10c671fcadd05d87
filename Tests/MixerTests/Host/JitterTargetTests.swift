import TestSupport
import Testing

@testable import Mixer

@Suite("Jitter target") struct JitterTargetTests {
    /// Feeds both tracks, `delay` after their timestamps, and advances the timeline.
    private func run(
        _ timeline: inout HostTimeline,
        from start: Int,
        to end: Int,
        video: (Int) -> Double = { _ in 30 },
        audio: (Int) -> Double = { _ in 30 },
        onAdvance: (HostTimeline) -> Void = { _ in }
    ) {
        for time in start..<end {
            if time % 33 == 0 {
                timeline.observe(.video, timestamp: Int64(time), arrival: Double(time) + video(time))
            }
            if time % 21 == 0 {
                timeline.observe(.audio, timestamp: Int64(time), arrival: Double(time) + audio(time))
            }
            guard time % 20 == 0 else { continue }
            timeline.advance(to: Double(time))
            onAdvance(timeline)
        }
    }

    @Test("a large target is met exactly")
    func large() {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, to: 10_000)
        #expect(timeline.offset == 330)
        #expect(timeline.late == 0)
    }

    @Test("evenly spaced audio has what it needs and little more with the smallest target")
    func smallest() throws {
        var timeline = HostTimeline(target: 60)
        run(&timeline, from: 0, to: 10_000)
        let held = try #require(timeline.offset) - 30
        #expect(abs(held - (HostTimeline.audioNeed + HostTimeline.minimumSlack)) < 1)
        #expect(held < 90)
    }

    @Test("audio that comes in bunches gets the time it needs, within the target")
    func bunches() throws {
        var timeline = HostTimeline(target: 60)
        // Two and three frames at a time, up to 42 ms late.
        run(&timeline, from: 0, to: 40_000, audio: { 30 + Double(42 - $0 % 63 / 21 * 21) })
        let held = try #require(timeline.offset) - 30
        #expect(abs(held - (HostTimeline.audioNeed + 42 + HostTimeline.margin)) < HostTimeline.deadBand + 1)
        #expect(timeline.late == 0)
    }

    @Test("excess initial delay is gone within 15 seconds with a small target")
    func lateBeginning() throws {
        // The first packets are 30 ms old, as after a slow handshake; then the path delay is normal.
        var timeline = HostTimeline(target: 60)
        run(&timeline, from: 0, to: 400, video: { _ in 60 }, audio: { _ in 60 })
        let first = try #require(timeline.offset)
        let goal = 30 + HostTimeline.audioNeed + HostTimeline.minimumSlack
        #expect(abs(first - goal - 30) < 1)
        var least = first
        run(&timeline, from: 400, to: 60_000, onAdvance: { least = min(least, $0.offset ?? 0) })
        #expect(timeline.steps == 0 && timeline.late == 0)
        // Never less than needed on the way there.
        #expect(least > goal - 1)
        var early = HostTimeline(target: 60)
        run(&early, from: 0, to: 400, video: { _ in 60 }, audio: { _ in 60 })
        run(&early, from: 400, to: 16_400)
        #expect(try #require(early.offset) - goal < HostTimeline.deadBand + 2)
    }

    @Test("excess initial delay decreases slowly with the default target")
    func usualBeginning() throws {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, to: 400, video: { _ in 60 }, audio: { _ in 60 })
        var fastest = 0.0
        run(&timeline, from: 400, to: 16_400, onAdvance: { fastest = max(fastest, abs($0.rate)) })
        #expect(fastest < 0.0015)
        #expect(try #require(timeline.offset) > 338)
    }

    @Test("audio that comes later than its video gets the time it needs at once and in one step with a small target")
    func lateAudio() throws {
        var timeline = HostTimeline(target: 60)
        for time in 0..<400 {
            if time % 33 == 0 {
                timeline.observe(.video, timestamp: Int64(time), arrival: Double(time) + 30)
            }
            if time % 20 == 0 { timeline.advance(to: Double(time)) }
        }
        #expect(timeline.offset == 90)
        run(&timeline, from: 400, to: 600, audio: { _ in 60 })
        #expect(timeline.steps == 1)
        #expect(try #require(timeline.offset) >= 60 + HostTimeline.audioNeed + HostTimeline.minimumSlack - 1)
        // The very first packets came before audio was known.
        #expect(timeline.late <= 2)
        let late = timeline.late
        run(&timeline, from: 600, to: 20_000, audio: { _ in 60 })
        #expect(timeline.steps == 1 && timeline.late == late)
    }

    @Test("jitter within the target is never late, whatever the initial delay", arguments: [UInt64](1...8))
    func inTime(seed: UInt64) {
        // Video comes up to 57 ms late: the target, less the tolerated error. The initial delay does not show it.
        var generator = SeededGenerator(seed: seed)
        var timeline = HostTimeline(target: 60)
        let age = Double(generator.next() % 40)
        run(&timeline, from: 0, to: 300, video: { _ in 30 + age }, audio: { _ in 30 + age })
        var others = SeededGenerator(seed: seed + 100)
        // The earliest packets of each track come first, so that the minimum is known.
        run(&timeline, from: 300, to: 400)
        run(
            &timeline,
            from: 400,
            to: 60_000,
            video: { _ in 30 + Double(generator.next() % 58) },
            audio: { _ in 30 + Double(others.next() % 6) }
        )
        #expect(timeline.late == 0)
    }

    @Test("video alone is delayed by the target, however small")
    func videoOnly() {
        var timeline = HostTimeline(target: 60)
        for time in 0..<5000 where time % 20 == 0 {
            timeline.observe(.video, timestamp: Int64(time), arrival: Double(time) + 30)
            timeline.advance(to: Double(time))
        }
        #expect(timeline.offset == 90)
    }

    @Test("a changed target is approached without a step, up and down", arguments: [(300.0, 120.0), (120, 400)])
    func changed(from first: Double, to second: Double) throws {
        var timeline = HostTimeline(target: first)
        run(&timeline, from: 0, to: 5000)
        timeline.target = second
        var last = try #require(timeline.offset)
        var fastest = 0.0
        run(
            &timeline,
            from: 5000,
            to: 130_000,
            onAdvance: { timeline in
                fastest = max(fastest, abs((timeline.offset ?? 0) - last) / 20)
                last = timeline.offset ?? 0
            }
        )
        #expect(abs(last - 30 - second) < 5)
        #expect(timeline.steps == 0)
        #expect(fastest <= HostTimeline.fastRate + 1e-9)
    }

    @Test("late packets are counted")
    func late() {
        var timeline = HostTimeline(target: 100)
        run(&timeline, from: 0, to: 10_000)
        run(&timeline, from: 10_000, to: 10_500, video: { _ in 500 })
        run(&timeline, from: 10_500, to: 12_000)
        // About sixteen frames of half a second, and no audio.
        #expect((14...16).contains(timeline.late))
        #expect(timeline.steps == 0)
    }

    @Test("the order in which threads deliver does not matter, only the arrival times")
    func order() {
        // Packets that are delivered a little after the quantum that began meanwhile.
        var (early, tardy) = (HostTimeline(target: 100), HostTimeline(target: 100))
        var held: [(Int64, Double)] = []
        var generator = SeededGenerator(seed: 5)
        var arrival = 0.0
        for time in 0..<20_000 {
            if time % 21 == 0 {
                arrival = max(arrival, Double(time) + Double(generator.next() % 60))
                held.append((Int64(time), arrival))
            }
            guard time % 20 == 0 else { continue }
            for (stamp, arrival) in held where arrival <= Double(time) {
                early.observe(.audio, timestamp: stamp, arrival: arrival)
            }
            early.advance(to: Double(time))
            for (stamp, arrival) in held where arrival <= Double(time) - 4 {
                tardy.observe(.audio, timestamp: stamp, arrival: arrival)
            }
            tardy.advance(to: Double(time))
            for (stamp, arrival) in held where arrival <= Double(time) && arrival > Double(time) - 4 {
                tardy.observe(.audio, timestamp: stamp, arrival: arrival)
            }
            held.removeAll { $0.1 <= Double(time) }
            #expect(early.offset == tardy.offset)
        }
        #expect(early.offset != nil)
    }
}
