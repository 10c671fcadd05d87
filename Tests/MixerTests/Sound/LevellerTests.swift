import Testing

@testable import Mixer

@Suite("Bringing a host to the usual loudness") struct LevellerTests {
    private func run(
        _ leveller: inout Leveller,
        seconds: Double,
        isOn: Bool = true,
        loudness: Double?,
        isSpeaking: Bool = true
    ) {
        for _ in 0..<Int(seconds * 50) {
            leveller.advance(by: 0.02, isOn: isOn, loudness: loudness, isSpeaking: isSpeaking)
        }
    }

    @Test("Too loud is turned down by 1 dB a second, too quiet up by half of one, to -16 LUFS")
    func speed() {
        var loud = Leveller()
        run(&loud, seconds: 3, loudness: -10)
        #expect(abs(loud.gain + 3) < 0.05)
        run(&loud, seconds: 10, loudness: -10)
        #expect(abs(loud.gain + 6) < 0.05)
        var quiet = Leveller()
        run(&quiet, seconds: 4, loudness: -20)
        #expect(abs(quiet.gain - 2) < 0.05)
        run(&quiet, seconds: 10, loudness: -20)
        #expect(abs(quiet.gain - 4) < 0.05)
    }

    @Test("Never by more than 12 dB", arguments: [(-45.0, 12.0), (0.0, -12.0)])
    func range(loudness: Double, gain: Double) {
        var leveller = Leveller()
        run(&leveller, seconds: 60, loudness: loudness)
        #expect(abs(leveller.gain - gain) < 1e-9)
    }

    @Test("In silence the gain stays where it is")
    func frozen() {
        var leveller = Leveller()
        run(&leveller, seconds: 4, loudness: -20)
        let gain = leveller.gain
        run(&leveller, seconds: 30, loudness: -20, isSpeaking: false)
        #expect(leveller.gain == gain)
        run(&leveller, seconds: 30, loudness: nil)
        #expect(leveller.gain == gain)
    }

    @Test("Switched off it lets go within seconds, switched on it begins again")
    func off() {
        var leveller = Leveller()
        run(&leveller, seconds: 30, loudness: -26)
        #expect(abs(leveller.gain - 10) < 0.05)
        run(&leveller, seconds: 2, isOn: false, loudness: -26)
        #expect(leveller.gain == 0)
        run(&leveller, seconds: 2, loudness: -26)
        #expect(abs(leveller.gain - 1) < 0.05)
    }

    @Test("An error of less than half a decibel is left alone")
    func tolerance() {
        var leveller = Leveller()
        run(&leveller, seconds: 10, loudness: -16.4)
        #expect(leveller.gain == 0)
    }
}
