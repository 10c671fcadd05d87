import Testing

@testable import Mixer

@Suite("How loud a host is")
struct SoundLevelTests {
    private func measure(_ left: [Float], _ right: [Float]) -> (level: Double, peak: Double) {
        var level = SoundLevel()
        level.add(left, right, count: left.count)
        return level.read()
    }

    private func sine(amplitude: Double, count: Int = 4800) -> [Float] {
        (0..<count).map { Float(amplitude * TestTone.sine(of: 1000, at: $0)) }
    }

    @Test("A sine is 3 dB quieter than its peak", arguments: [(1.0, 0.0), (0.5, -6.02), (0.01, -40.0)])
    func sines(amplitude: Double, peak: Double) {
        let tone = sine(amplitude: amplitude)
        let measured = measure(tone, tone)
        #expect(abs(measured.level - (peak - 3.01)) < 0.05)
        #expect(abs(measured.peak - peak) < 0.05)
    }

    @Test("One silent channel takes 3 dB off the level and nothing off the peak")
    func oneChannel() {
        let measured = measure(sine(amplitude: 1), Array(repeating: 0, count: 4800))
        #expect(abs(measured.level + 6.02) < 0.05)
        #expect(abs(measured.peak) < 0.05)
    }

    @Test("Nothing, silence and what is no number are -127")
    func silence() {
        var level = SoundLevel()
        #expect(level.read() == (-127, -127))
        #expect(measure(Array(repeating: 0, count: 960), Array(repeating: 0, count: 960)) == (-127, -127))
        let broken = measure(Array(repeating: .nan, count: 16), Array(repeating: 0, count: 16))
        #expect(broken.level == -127)
        #expect(broken.peak == -127)
    }

    @Test("Every sample counts, whatever the number of them, and each reading begins anew", arguments: [1, 7, 8, 13])
    func counts(count: Int) {
        var samples = [Float](repeating: 0, count: count)
        samples[count - 1] = -1
        var level = SoundLevel()
        level.add(samples, samples, count: count)
        #expect(level.read().peak == 0)
        #expect(level.read().peak == -127)
    }
}

@Suite("What of a host can be decoded")
struct SignalMeterTests {
    @Test("T5 Pictures and sound count from the first that was decoded until three seconds after the last")
    func decodable() {
        var meter = SignalMeter()
        func read(_ pictures: Int64, _ soundEnd: Double?, at now: Double) -> (sound: Bool, pictures: Bool) {
            let signal = meter.read(id: "a", pictures: pictures, soundEnd: soundEnd, now: now)
            return (signal.hasSound, signal.hasPictures)
        }
        #expect(read(0, nil, at: 0) == (false, false))
        #expect(read(0, 21.3, at: 100) == (true, false))
        #expect(read(3, 21.3, at: 200) == (true, true))
        // The same end, reckoned another way.
        #expect(read(3, 21.300000001, at: 3101) == (false, true))
        #expect(read(3, 21.3, at: 3201) == (false, false))
        #expect(read(4, 42.6, at: 3300) == (true, true))
    }

    @Test("Pictures of a screen, which may stand still, count for half a minute")
    func stillScreen() {
        var meter = SignalMeter()
        for (time, isSeen) in [(0.0, true), (29_900, true), (30_100, false)] {
            let signal = meter.read(id: "a", pictures: 1, soundEnd: nil, now: time, mayStandStill: true)
            #expect(signal.hasPictures == isSeen, "\(time)")
        }
    }

    @Test("The level is that of the sound before gain")
    func level() {
        var meter = SignalMeter()
        let loud = [Float](repeating: 0.5, count: 960)
        meter.add(loud, loud, count: 960)
        let signal = meter.read(id: "a", pictures: 0, soundEnd: nil, now: 0)
        #expect(abs(signal.level + 6.02) < 0.01)
        #expect(signal.id == "a")
    }
}
