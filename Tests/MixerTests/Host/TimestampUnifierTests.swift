import Testing

@testable import Mixer

@Suite("One continuous clock of a host's timestamps") struct TimestampUnifierTests {
    /// Feeds both kinds every 20 ms from `start` to `end`, arriving `delay` later, and returns what came out.
    private func feed(
        _ unifier: inout TimestampUnifier,
        from start: Int64,
        to end: Int64,
        arrivalOffset: Double
    ) -> [(picture: Int64, sound: Int64)] {
        stride(from: start, to: end, by: 20).map { time in
            let arrival = Double(time) + arrivalOffset
            return (
                unifier.unify(time, kind: .picture, arrival: arrival),
                unifier.unify(time + 5, kind: .sound, arrival: arrival)
            )
        }
    }

    @Test("An even clock stays as it is, wherever it begins")
    func even() {
        var unifier = TimestampUnifier()
        let out = feed(&unifier, from: 4_000_000_000, to: 4_000_010_000, arrivalOffset: -3_999_999_000)
        #expect(out.map(\.picture) == Array(stride(from: 4_000_000_000, to: 4_000_010_000, by: 20)))
        #expect(out.allSatisfy { $0.sound == $0.picture + 5 })
        #expect(unifier.leaps == 0)
    }

    @Test("A leap is bridged, and picture and sound stay together", arguments: [10_000, -10_000, 3_600_000, -5_000])
    func leap(by leap: Int64) {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 20_000, to: 30_000, arrivalOffset: 50)
        let out = feed(&unifier, from: 30_000 + leap, to: 35_000 + leap, arrivalOffset: 50 - Double(leap))
        #expect(out.first?.picture == 30_000)
        #expect(out.last?.picture == 34_980)
        #expect(out.allSatisfy { $0.sound == $0.picture + 5 })
        #expect(unifier.leaps == 1)
    }

    @Test("Sound from before the leap that comes after the first picture of it keeps its place")
    func straggler() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 20_000, to: 30_000, arrivalOffset: 0)
        let out1 = unifier.unify(90_000, kind: .picture, arrival: 30_000)
        #expect(out1 == 30_000)
        let out2 = unifier.unify(30_005, kind: .sound, arrival: 30_001)
        #expect(out2 == 30_005)
        let out3 = unifier.unify(90_020, kind: .picture, arrival: 30_020)
        #expect(out3 == 30_020)
        let out4 = unifier.unify(90_025, kind: .sound, arrival: 30_021)
        #expect(out4 == 30_025)
        #expect(unifier.leaps == 1)
    }

    @Test("A stall that ends in a burst is no leap, and neither is silence as long on both clocks")
    func stall() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 0, to: 10_000, arrivalOffset: 0)
        for time in stride(from: Int64(10_000), to: 40_000, by: 20) {
            let out5 = unifier.unify(time, kind: .picture, arrival: 40_000)
            #expect(out5 == time)
        }
        let out6 = unifier.unify(52_000, kind: .picture, arrival: 52_000)
        #expect(out6 == 52_000)
        #expect(unifier.leaps == 0)
    }

    @Test("A host that comes back from zero goes on where the time of arrival puts it")
    func reconnect() {
        var unifier = TimestampUnifier()
        _ = feed(&unifier, from: 0, to: 60_000, arrivalOffset: 0)
        let out7 = unifier.unify(0, kind: .sound, arrival: 65_000)
        #expect(out7 == 65_005)
        let out8 = unifier.unify(33, kind: .picture, arrival: 65_001)
        #expect(out8 == 65_038)
        #expect(unifier.leaps == 1)
    }
}
