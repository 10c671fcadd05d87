import Testing

@testable import Mixer

@Suite("Audio level meter")
struct AudioLevelMeterTests {
    private func measure(_ left: [Float], _ right: [Float]) -> (level: Double, peak: Double) {
        var level = AudioLevelMeter()
        level.add(left, right, count: left.count)
        return level.read()
    }

    private func sine(amplitude: Double, count: Int = 4800) -> [Float] {
        (0..<count).map { Float(amplitude * TestTone.sine(of: 1000, at: $0)) }
    }

    @Test("a sine is 3 dB below its peak", arguments: [(1.0, 0.0), (0.5, -6.02), (0.01, -40.0)])
    func sines(amplitude: Double, peak: Double) {
        let tone = sine(amplitude: amplitude)
        let measured = measure(tone, tone)
        #expect(abs(measured.level - (peak - 3.01)) < 0.05)
        #expect(abs(measured.peak - peak) < 0.05)
    }

    @Test("one silent channel lowers the level by 3 dB and not the peak")
    func oneChannel() {
        let measured = measure(sine(amplitude: 1), Array(repeating: 0, count: 4800))
        #expect(abs(measured.level + 6.02) < 0.05)
        #expect(abs(measured.peak) < 0.05)
    }

    @Test("no samples, silence and NaN read -127")
    func silence() {
        var level = AudioLevelMeter()
        #expect(level.read() == (-127, -127))
        #expect(measure(Array(repeating: 0, count: 960), Array(repeating: 0, count: 960)) == (-127, -127))
        let broken = measure(Array(repeating: .nan, count: 16), Array(repeating: 0, count: 16))
        #expect(broken.level == -127)
        #expect(broken.peak == -127)
    }

    @Test("every sample counts, whatever their number, and each reading starts again", arguments: [1, 7, 8, 13])
    func counts(count: Int) {
        var samples = [Float](repeating: 0, count: count)
        samples[count - 1] = -1
        var level = AudioLevelMeter()
        level.add(samples, samples, count: count)
        #expect(level.read().peak == 0)
        #expect(level.read().peak == -127)
    }
}

@Suite("Signal meter")
struct SignalMeterTests {
    @Test("T5 video and audio count from the first decode until three seconds after the last")
    func decodable() {
        var meter = SignalMeter()
        func read(_ frames: Int64, _ audioEnd: Double?, at now: Double) -> (audio: Bool, frames: Bool) {
            let signal = meter.read(id: "a", frames: frames, audioEnd: audioEnd, now: now)
            return (signal.hasAudio, signal.hasVideo)
        }
        #expect(read(0, nil, at: 0) == (false, false))
        #expect(read(0, 21.3, at: 100) == (true, false))
        #expect(read(3, 21.3, at: 200) == (true, true))
        // The same end with a rounding error.
        #expect(read(3, 21.300000001, at: 3101) == (false, true))
        #expect(read(3, 21.3, at: 3201) == (false, false))
        #expect(read(4, 42.6, at: 3300) == (true, true))
    }

    @Test("frames of a screen share count for half a minute")
    func stillScreen() {
        var meter = SignalMeter()
        for (time, isSeen) in [(0.0, true), (29_900, true), (30_100, false)] {
            let signal = meter.read(id: "a", frames: 1, audioEnd: nil, now: time, isScreenShare: true)
            #expect(signal.hasVideo == isSeen, "\(time)")
        }
    }

    @Test("the level is that of the audio before gain")
    func level() {
        var meter = SignalMeter()
        let loud = [Float](repeating: 0.5, count: 960)
        meter.add(loud, loud, count: 960)
        let signal = meter.read(id: "a", frames: 0, audioEnd: nil, now: 0)
        #expect(abs(signal.level + 6.02) < 0.01)
        #expect(signal.id == "a")
    }
}
