@testable import HLS
import Testing

@Suite("Sounds lie end to end on their sample clock")
struct SoundClockTests {
    @Test("an hour of rounded timestamps leaves no gap and no drift")
    func hour() {
        var clock = SoundClock(rate: 44_100, samplesPerFrame: 1024)
        var expected: Int64?
        for index in 0..<Int64(3600 * 44_100 / 1024) {
            let milliseconds = 5 + index * 1024 * 1000 / 44_100
            guard case .at(let tick) = clock.place(milliseconds: milliseconds) else {
                Issue.record("frame \(index) was refused")
                return
            }
            if let expected { #expect(tick == expected) }
            expected = tick + 1024
        }
    }

    @Test("up to 20 ms is rounding, more is a gap, back by less than a second is an overlap")
    func corrections() {
        var clock = SoundClock(rate: 48_000, samplesPerFrame: 1024)
        #expect(clock.place(milliseconds: 1000) == .at(48_000))
        #expect(clock.place(milliseconds: 1040) == .at(49_024))
        #expect(clock.place(milliseconds: 1100) == .at(52_800))
        #expect(clock.place(milliseconds: 1100) == .overlapping)
        #expect(clock.place(milliseconds: 1110) == .at(53_824))
        #expect(clock.place(milliseconds: 100) == .backwards)
    }

    @Test("a moment far from zero is exact")
    func late() {
        let clock = SoundClock(rate: 44_100, samplesPerFrame: 1024)
        #expect(clock.tick(milliseconds: 1 << 34) == 757_632_231_014)
        #expect(clock.tick(milliseconds: 1) == 44)
    }
}
