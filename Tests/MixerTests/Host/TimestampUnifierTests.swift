import Testing

@testable import Mixer

@Suite("Timestamp unifier") struct TimestampUnifierTests {
    /// Feeds both tracks every 20 ms from `start` to `end`, offset by `arrivalOffset`, and returns the output.
    private func feed(
        _ unifier: inout TimestampUnifier,
        from start: Int64,
        to end: Int64,
        arrivalOffset: Double
    ) -> [(video: Int64, audio: Int64)] {
        stride(from: start, to: end, by: 20).map { time in
            let arrival = Double(time) + arrivalOffset
            return (
                unifier.unify(time, kind: .video, arrival: arrival),
                unifier.unify(time + 5, kind: .audio, arrival: arrival)
            )
        }
    }

    @Test("an even clock is unchanged, wherever it begins")
    func even() {
        var unifier = TimestampUnifier()
        let out = feed(&unifier, from: 4_000_000_000, to: 4_000_010_000, arrivalOffset: -3_999_999_000)
        #expect(out.map(\.video) == Array(stride(from: 4_000_000_000, to: 4_000_010_000, by: 20)))
        #expect(out.allSatisfy { $0.audio == $0.video + 5 })
        #expect(unifier.discontinuities == 0)
    }

    @Test("a jump is corrected, and video and audio stay together", arguments: [10_000, -10_000, 3_600_000, -5_000])
    func jump(by jump: Int64) {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 20_000, to: 30_000, arrivalOffset: 50)
        let out = feed(&unifier, from: 30_000 + jump, to: 35_000 + jump, arrivalOffset: 50 - Double(jump))
        #expect(out.first?.video == 30_000)
        #expect(out.last?.video == 34_980)
        #expect(out.allSatisfy { $0.audio == $0.video + 5 })
        #expect(unifier.discontinuities == 1)
    }

    @Test("audio from before a jump that comes after the first video packet of it keeps its time")
    func straggler() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 20_000, to: 30_000, arrivalOffset: 0)
        let out1 = unifier.unify(90_000, kind: .video, arrival: 30_000)
        #expect(out1 == 30_000)
        let out2 = unifier.unify(30_005, kind: .audio, arrival: 30_001)
        #expect(out2 == 30_005)
        let out3 = unifier.unify(90_020, kind: .video, arrival: 30_020)
        #expect(out3 == 30_020)
        let out4 = unifier.unify(90_025, kind: .audio, arrival: 30_021)
        #expect(out4 == 30_025)
        #expect(unifier.discontinuities == 1)
    }

    @Test("a stall that ends in a burst is no jump, and neither is an equal pause on both clocks")
    func stall() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 0, to: 10_000, arrivalOffset: 0)
        for time in stride(from: Int64(10_000), to: 40_000, by: 20) {
            let out5 = unifier.unify(time, kind: .video, arrival: 40_000)
            #expect(out5 == time)
        }
        let out6 = unifier.unify(52_000, kind: .video, arrival: 52_000)
        #expect(out6 == 52_000)
        #expect(unifier.discontinuities == 0)
    }

    @Test("a host that restarts from zero continues at its arrival time")
    func reconnect() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 0, to: 60_000, arrivalOffset: 0)
        let out7 = unifier.unify(0, kind: .audio, arrival: 65_000)
        #expect(out7 == 65_005)
        let out8 = unifier.unify(33, kind: .video, arrival: 65_001)
        #expect(out8 == 65_038)
        #expect(unifier.discontinuities == 1)
    }
}
