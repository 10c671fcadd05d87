import Testing

@testable import Gateway

@Suite("Numbers of viewers that a broadcast reaches")
struct ThresholdWatchTests {
    @Test("Each is told once for each broadcast, also several at a time; what was reached before us is no news")
    func reached() {
        var watch = ThresholdWatch([100, 10, 1000])
        #expect(watch.note(room: "a", beganAt: 1, peak: 9) == [])
        #expect(watch.note(room: "a", beganAt: 1, peak: 10) == [10])
        #expect(watch.note(room: "a", beganAt: 1, peak: 10) == [])
        #expect(watch.note(room: "a", beganAt: 1, peak: 5000) == [100, 1000])
        #expect(watch.note(room: "a", beganAt: 2, peak: 12) == [10])
        #expect(watch.note(room: "b", beganAt: 1, peak: 150, isKnown: true) == [])
        #expect(watch.note(room: "b", beganAt: 1, peak: 1000) == [1000])
        watch.keep(only: ["b"])
        #expect(watch.note(room: "a", beganAt: 2, peak: 12) == [10])
        #expect(watch.note(room: "b", beganAt: 1, peak: 1001) == [])
    }
}
