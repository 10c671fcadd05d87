import Testing

@testable import Mixer

@Suite("How long a host is held back") struct JitterTargetTests {
    /// Feeds both kinds, `delay` after their timestamps, and moves the timeline over them.
    private func run(
        _ timeline: inout HostTimeline,
        from start: Int,
        to end: Int,
        picture: (Int) -> Double = { _ in 30 },
        sound: (Int) -> Double = { _ in 30 },
        watch: (HostTimeline) -> Void = { _ in }
    ) {
        for time in start..<end {
            if time % 33 == 0 {
                timeline.observe(.picture, timestamp: Int64(time), arrival: Double(time) + picture(time))
            }
            if time % 21 == 0 {
                timeline.observe(.sound, timestamp: Int64(time), arrival: Double(time) + sound(time))
            }
            guard time % 20 == 0 else { continue }
            timeline.advance(to: Double(time))
            watch(timeline)
        }
    }

    @Test("A large target is kept exactly")
    func large() {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, to: 10_000)
        #expect(timeline.offset == 330)
        #expect(timeline.late == 0)
    }

    @Test("With the smallest target sound that comes evenly has what it needs and little more")
    func smallest() throws {
        var timeline = HostTimeline(target: 60)
        run(&timeline, from: 0, to: 10_000)
        let held = try #require(timeline.offset) - 30
        #expect(abs(held - (HostTimeline.soundNeed + HostTimeline.leastSlack)) < 1)
        #expect(held < 90)
    }

    @Test("Sound that comes in bunches is given the time that takes, within the target")
    func bunches() throws {
        var timeline = HostTimeline(target: 60)
        // Two and three frames at a time, up to 42 ms late.
        run(&timeline, from: 0, to: 40_000, sound: { 30 + Double(42 - $0 % 63 / 21 * 21) })
        let held = try #require(timeline.offset) - 30
        #expect(abs(held - (HostTimeline.soundNeed + 42 + HostTimeline.margin)) < HostTimeline.deadBand + 1)
        #expect(timeline.late == 0)
    }

    @Test("With a small target, what a beginning was held back too long is gone within a quarter of a minute")
    func lateBeginning() throws {
        // The first packets are 30 ms old, as behind a slow handshake; then the way is what it is.
        var timeline = HostTimeline(target: 60)
        run(&timeline, from: 0, to: 400, picture: { _ in 60 }, sound: { _ in 60 })
        let first = try #require(timeline.offset)
        let goal = 30 + HostTimeline.soundNeed + HostTimeline.leastSlack
        #expect(abs(first - goal - 30) < 1)
        var least = first
        run(&timeline, from: 400, to: 60_000, watch: { least = min(least, $0.offset ?? 0) })
        #expect(timeline.steps == 0 && timeline.late == 0)
        // Never less than it ought to be on the way there.
        #expect(least > goal - 1)
        var early = HostTimeline(target: 60)
        run(&early, from: 0, to: 400, picture: { _ in 60 }, sound: { _ in 60 })
        run(&early, from: 400, to: 16_400)
        #expect(try #require(early.offset) - goal < HostTimeline.deadBand + 2)
    }

    @Test("The usual target goes there slowly, as ever")
    func usualBeginning() throws {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, to: 400, picture: { _ in 60 }, sound: { _ in 60 })
        var fastest = 0.0
        run(&timeline, from: 400, to: 16_400, watch: { fastest = max(fastest, abs($0.rate)) })
        #expect(fastest < 0.0015)
        #expect(try #require(timeline.offset) > 338)
    }

    @Test("With a small target, sound that comes up behind its pictures has the time it needs at once, and once")
    func lateSound() throws {
        var timeline = HostTimeline(target: 60)
        for time in 0..<400 {
            if time % 33 == 0 {
                timeline.observe(.picture, timestamp: Int64(time), arrival: Double(time) + 30)
            }
            if time % 20 == 0 { timeline.advance(to: Double(time)) }
        }
        #expect(timeline.offset == 90)
        run(&timeline, from: 400, to: 600, sound: { _ in 60 })
        #expect(timeline.steps == 1)
        #expect(try #require(timeline.offset) >= 60 + HostTimeline.soundNeed + HostTimeline.leastSlack - 1)
        // The very first came before anything was known of sound.
        #expect(timeline.late <= 2)
        let late = timeline.late
        run(&timeline, from: 600, to: 20_000, sound: { _ in 60 })
        #expect(timeline.steps == 1 && timeline.late == late)
    }

    @Test("What comes within the target is never late, however the beginning was", arguments: [UInt64](1...8))
    func inTime(seed: UInt64) {
        // Pictures come up to 57 ms late: the target, less an error that is left alone. The beginning knows nothing of it.
        var generator = SplitMix(seed: seed)
        var timeline = HostTimeline(target: 60)
        let age = Double(generator.next() % 40)
        run(&timeline, from: 0, to: 300, picture: { _ in 30 + age }, sound: { _ in 30 + age })
        var others = SplitMix(seed: seed + 100)
        // The freshest of each kind come first, so that it is known what late means.
        run(&timeline, from: 300, to: 400)
        run(
            &timeline,
            from: 400,
            to: 60_000,
            picture: { _ in 30 + Double(generator.next() % 58) },
            sound: { _ in 30 + Double(others.next() % 6) }
        )
        #expect(timeline.late == 0)
    }

    @Test("Pictures alone are held back for the target, however small")
    func picturesAlone() {
        var timeline = HostTimeline(target: 60)
        for time in 0..<5000 where time % 20 == 0 {
            timeline.observe(.picture, timestamp: Int64(time), arrival: Double(time) + 30)
            timeline.advance(to: Double(time))
        }
        #expect(timeline.offset == 90)
    }

    @Test("A target that is changed is moved to without a step, up and down", arguments: [(300.0, 120.0), (120, 400)])
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
            watch: { timeline in
                fastest = max(fastest, abs((timeline.offset ?? 0) - last) / 20)
                last = timeline.offset ?? 0
            }
        )
        #expect(abs(last - 30 - second) < 5)
        #expect(timeline.steps == 0)
        #expect(fastest <= HostTimeline.hurriedRate + 1e-9)
    }

    @Test("What comes after its turn is counted")
    func late() {
        var timeline = HostTimeline(target: 100)
        run(&timeline, from: 0, to: 10_000)
        run(&timeline, from: 10_000, to: 10_500, picture: { _ in 500 })
        run(&timeline, from: 10_500, to: 12_000)
        // Sixteen or so pictures of half a second, and no sound.
        #expect((14...16).contains(timeline.late))
        #expect(timeline.steps == 0)
    }

    @Test("The order in which threads get to it does not matter, only when packets came")
    func order() {
        // Packets that are handed over a little after the quantum that began meanwhile.
        var (early, tardy) = (HostTimeline(target: 100), HostTimeline(target: 100))
        var held: [(Int64, Double)] = []
        var generator = SplitMix(seed: 5)
        var arrival = 0.0
        for time in 0..<20_000 {
            if time % 21 == 0 {
                arrival = max(arrival, Double(time) + Double(generator.next() % 60))
                held.append((Int64(time), arrival))
            }
            guard time % 20 == 0 else { continue }
            for (stamp, arrival) in held where arrival <= Double(time) {
                early.observe(.sound, timestamp: stamp, arrival: arrival)
            }
            early.advance(to: Double(time))
            for (stamp, arrival) in held where arrival <= Double(time) - 4 {
                tardy.observe(.sound, timestamp: stamp, arrival: arrival)
            }
            tardy.advance(to: Double(time))
            for (stamp, arrival) in held where arrival <= Double(time) && arrival > Double(time) - 4 {
                tardy.observe(.sound, timestamp: stamp, arrival: arrival)
            }
            held.removeAll { $0.1 <= Double(time) }
            #expect(early.offset == tardy.offset)
        }
        #expect(early.offset != nil)
    }
}
