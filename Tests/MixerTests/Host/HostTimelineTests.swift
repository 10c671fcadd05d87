import TestSupport
import Testing

@testable import Mixer

@Suite("Host timeline") struct HostTimelineTests {
    /// Runs a host at 30 frames and 50 quanta a second.
    private func run(
        _ timeline: inout HostTimeline,
        from start: Double,
        seconds: Double,
        partsPerMillion: Double = 0,
        jitter: () -> Double = { 0 },
        onAdvance: (Double, HostTimeline) -> Void = { _, _ in }
    ) {
        var frameTime = start
        for tick in 0..<Int(seconds * 50) {
            let now = start + Double(tick) * 20
            while frameTime <= now {
                // The host stamps with its own clock; the packet takes 40 ms and the jitter.
                let stamp = Int64((frameTime * (1 + partsPerMillion / 1e6)).rounded(.down))
                timeline.observe(.video, timestamp: stamp, arrival: frameTime + 40 + jitter())
                frameTime += 1000.0 / 30
            }
            timeline.advance(to: now)
            onAdvance(now, timeline)
        }
    }

    @Test("the burst of a join does not delay the host, for the newest packet decides")
    func joinBurst() {
        var timeline = HostTimeline(target: 300)
        for stamp in stride(from: Int64(0), through: 2000, by: 33) {
            timeline.observe(.video, timestamp: stamp, arrival: 10_000 + Double(stamp) / 100)
        }
        timeline.advance(to: 10_100)
        #expect(timeline.offset == nil)
        timeline.advance(to: 10_200)
        // The last of the burst: stamp 1980 at 10 019.8.
        #expect(abs((timeline.offset ?? 0) - (10_019.8 - 1980 + 300)) < 0.01)
    }

    @Test("a drift of 200 ppm is followed for two hours within 20 ms, and measured", arguments: [200.0, -200.0])
    func drift(partsPerMillion: Double) {
        var timeline = HostTimeline(target: 300)
        var worst = 0.0
        var generator = SeededGenerator(seed: 7)
        run(
            &timeline,
            from: 0,
            seconds: 7200,
            partsPerMillion: partsPerMillion,
            jitter: { Double(generator.next() % 4000) / 100 },
            onAdvance: { now, timeline in
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
        "the offset is unchanged after a stall and the burst that ends it",
        arguments: [500.0, 2000, 12_000, 30_000]
    )
    func stall(length: Double) {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, seconds: 10)
        let before = timeline.offset
        for tick in 0..<Int(length / 20) { timeline.advance(to: 10_000 + Double(tick) * 20) }
        var stamp = 10_000.0
        while stamp < 10_000 + length {
            timeline.observe(.video, timestamp: Int64(stamp), arrival: 10_000 + length + stamp / 1000)
            stamp += 1000.0 / 30
        }
        run(&timeline, from: 10_000 + length + 100, seconds: 5)
        #expect(abs((timeline.offset ?? 0) - (before ?? 1e9)) < 5)
        #expect(timeline.steps == 0)
    }

    @Test("a path delay that grows beyond the target for good is followed in one step")
    func longerDelay() {
        var timeline = HostTimeline(target: 300)
        run(&timeline, from: 0, seconds: 10)
        run(&timeline, from: 10_000, seconds: 6, jitter: { 1500 })
        #expect(abs((timeline.offset ?? 0) - 1840) < 10)
        #expect(timeline.steps == 1)
    }

    @Test("the track that comes later decides for both")
    func skew() {
        var timeline = HostTimeline(target: 200)
        for tick in 0..<100 {
            let time = Double(tick) * 20
            timeline.observe(.video, timestamp: Int64(time), arrival: time + 10)
            timeline.observe(.audio, timestamp: Int64(time), arrival: time + 150)
            timeline.advance(to: time)
        }
        #expect(timeline.offset == 350)
    }
}

@Suite("Hosts whose audio stays late") struct LateHostTests {
    /// The duration of an AAC packet at 48 kHz in milliseconds.
    private static let packet = 1024.0 / 48

    /// Simulates audio for some seconds.
    ///
    /// - Parameter delay: The transit time in milliseconds of a packet that was sent at that time.
    /// - Returns: The arrival of each packet, and whether it was late.
    private func audio(seconds: Double, delay: (Double) -> Double) -> [(arrival: Double, isLate: Bool)] {
        var timeline = HostTimeline(target: 300)
        var packets: [(arrival: Double, isLate: Bool)] = []
        var stamp = 0.0
        for quantum in 0..<Int(seconds * 50) {
            let now = Double(quantum) * 20
            while stamp + delay(stamp) <= now {
                let arrival = stamp + delay(stamp)
                timeline.observe(.video, timestamp: Int64(stamp), arrival: arrival)
                timeline.observe(.audio, timestamp: Int64(stamp), arrival: arrival)
                let lead = Double(ProgramTime.audioLead) / 48
                packets.append((arrival, timeline.offset.map { arrival - stamp > $0 - lead } ?? true))
                stamp += Self.packet
            }
            timeline.advance(to: now)
        }
        return packets
    }

    @Test(
        "a host that sends slower than real time is heard intermittently instead of never",
        arguments: [(0.5, 0.45), (0.8, 0.65), (0.9, 0.75), (0.95, 0.85), (0.99, 0.99)]
    )
    func slow(speed: Double, share: Double) {
        let packets = audio(seconds: 60) { 40 + $0 * (1 / speed - 1) }.filter { $0.arrival > 2000 }
        let recorded = packets.filter { !$0.isLate }
        #expect(Double(recorded.count) >= share * Double(packets.count))
        // Intermittently: no gap is long.
        var last = 2000.0
        for packet in recorded {
            #expect(packet.arrival - last < 800)
            last = packet.arrival
        }
    }

    @Test(
        "a host whose path delay grows beyond its target is heard again after half a second",
        arguments: [350.0, 900]
    )
    func detour(longer: Double) {
        let packets = audio(seconds: 30) { $0 < 10_000 ? 40 : 40 + longer }
        let late = packets.filter { $0.arrival > 1000 && $0.isLate }
        #expect(late.allSatisfy { $0.arrival < 10_040 + longer + 700 })
        #expect(late.count * Int(Self.packet) < 700)
    }

    @Test("a burst after a stall moves nothing, however slow it is")
    func slowBurst() {
        var timeline = HostTimeline(target: 300)
        var stamp = 0.0
        for quantum in 0..<1500 {
            let now = Double(quantum) * 20
            // Nothing from 10 s to 12 s; the queued packets come at three times the speed.
            func arrival(_ stamp: Double) -> Double {
                stamp < 10_000 ? stamp + 40 : max(stamp, 12_000 + (stamp - 10_000) / 3) + 40
            }
            while arrival(stamp) <= now {
                timeline.observe(.audio, timestamp: Int64(stamp), arrival: arrival(stamp))
                stamp += Self.packet
            }
            timeline.advance(to: now)
        }
        #expect(timeline.steps == 0)
    }
}

@Suite("Drift estimate") struct DriftEstimateTests {
    @Test("two minutes of jittering delays give the drift within 10 ppm", arguments: [-200.0, -20, 0, 50, 200, 1000])
    func slope(partsPerMillion: Double) throws {
        var estimate = DriftEstimate()
        var generator = SeededGenerator(seed: 3)
        for second in 0..<120 {
            let time = Double(second) * 1000
            // The minimum delay of a window: close to the true delay, never below it.
            let jitter = Double(generator.next() % 100) / 100
            estimate.add(40 + jitter - time * partsPerMillion / 1e6, at: time)
            if second < 25 { #expect(estimate.partsPerMillion == nil) }
        }
        #expect(abs(try #require(estimate.partsPerMillion) - partsPerMillion) < 10)
    }

    @Test("a change of the network path begins a new line and does not count as drift")
    func pathChange() throws {
        var estimate = DriftEstimate()
        for second in 0..<100 { estimate.add(40 - Double(second) * 0.1, at: Double(second) * 1000) }
        for second in 100..<120 { estimate.add(140 - Double(second) * 0.1, at: Double(second) * 1000) }
        #expect(estimate.partsPerMillion == nil)
        for second in 120..<160 { estimate.add(140 - Double(second) * 0.1, at: Double(second) * 1000) }
        #expect(abs(try #require(estimate.partsPerMillion) - 100) < 1)
    }
}
