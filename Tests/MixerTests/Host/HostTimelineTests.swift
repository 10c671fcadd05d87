import Testing

@testable import Mixer

@Suite("A host's place in program time") struct HostTimelineTests {
    /// Runs a host at 30 pictures and 50 quanta a second.
    private func run(
        _ timeline: inout HostTimeline,
        from start: Double,
        seconds: Double,
        partsPerMillion: Double = 0,
        jitter: () -> Double = { 0 },
        watch: (Double, HostTimeline) -> Void = { _, _ in }
    ) {
        var picture = start
        for tick in 0..<Int(seconds * 50) {
            let now = start + Double(tick) * 20
            while picture <= now {
                // The host stamps with its own clock; the packet takes 40 ms and the jitter.
                let stamp = Int64((picture * (1 + partsPerMillion / 1e6)).rounded(.down))
                timeline.observe(.picture, timestamp: stamp, arrival: picture + 40 + jitter())
                picture += 1000.0 / 30
            }
            timeline.advance(to: now)
            watch(now, timeline)
        }
    }

    @Test("The burst of a join does not hold the host back: the freshest packet decides")
    func joinBurst() {
        var timeline = HostTimeline(target: 300)
        for stamp in stride(from: Int64(0), through: 2000, by: 33) {
            timeline.observe(.picture, timestamp: stamp, arrival: 10_000 + Double(stamp) / 100)
        }
        timeline.advance(to: 10_100)
        #expect(timeline.offset == nil)
        timeline.advance(to: 10_200)
        // The last of the burst: stamp 1980 at 10 019.8.
        #expect(abs((timeline.offset ?? 0) - (10_019.8 - 1980 + 300)) < 0.01)
    }

    @Test("A drift of 200 ppm is followed for two hours within 20 ms, and measured", arguments: [200.0, -200.0])
    func drift(partsPerMillion: Double) {
        var timeline = HostTimeline(target: 300)
        var worst = 0.0
        var generator = SplitMix(seed: 7)
        run(
            &timeline,
            from: 0,
            seconds: 7200,
            partsPerMillion: partsPerMillion,
            jitter: { Double(generator.next() % 4000) / 100 },
            watch: { now, timeline in
                guard now > 10_000, let offset = timeline.offset else { return }
                let ideal = 340 - now * partsPerMillion / 1e6
                worst = max(worst, abs(offset - ideal))
            }
        )
        #expect(worst < 20)
        #expect(timeline.steps == 0)
        #expect(abs(timeline.driftPartsPerMillion - partsPerMillion) < 60)
        #expect(abs(timeline.rate) <= HostTimeline.steadyRate)
    }

    @Test(
        "After a stall and the burst that ends it the offset is what it was",
        arguments: [500.0, 2000, 12_000, 30_000]
    )
    func stall(length: Double) {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, seconds: 10)
        let before = timeline.offset
        for tick in 0..<Int(length / 20) { timeline.advance(to: 10_000 + Double(tick) * 20) }
        var stamp = 10_000.0
        while stamp < 10_000 + length {
            timeline.observe(.picture, timestamp: Int64(stamp), arrival: 10_000 + length + stamp / 1000)
            stamp += 1000.0 / 30
        }
        run(&timeline, from: 10_000 + length + 100, seconds: 5)
        #expect(abs((timeline.offset ?? 0) - (before ?? 1e9)) < 5)
        #expect(timeline.steps == 0)
    }

    @Test("When the way becomes longer than the target for good, the host moves there in one step")
    func longerWay() {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, seconds: 10)
        run(&timeline, from: 10_000, seconds: 6, jitter: { 1500 })
        #expect(abs((timeline.offset ?? 0) - 1840) < 10)
        #expect(timeline.steps == 1)
    }

    @Test("The kind of media that comes later decides for both")
    func skew() {
        var timeline = HostTimeline(target: 200)
        for tick in 0..<100 {
            let time = Double(tick) * 20
            timeline.observe(.picture, timestamp: Int64(time), arrival: time + 10)
            timeline.observe(.sound, timestamp: Int64(time), arrival: time + 150)
            timeline.advance(to: time)
        }
        #expect(timeline.offset == 350)
    }
}

/// A small generator, the same in every run.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
