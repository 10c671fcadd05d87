/// Brings one host slowly to the loudness all hosts are to have.
///
/// The gain follows what the host's speech of the last ten seconds measures, no faster than a hand on a fader would:
/// 1 dB a second downwards, 0.5 upwards, at most 12 dB either way. While the host says nothing the gain stays where
/// it is, so that a pause is not filled with the noise of the room; see `SpeechGate`.
struct Leveller: Sendable {
    /// What all are brought to, in LUFS.
    static let target = -16.0
    /// Quieter than this, in LUFS, is silence.
    static let gate = -50.0
    /// Decibels that the gain reaches at most, in either direction.
    static let range = 12.0
    /// Blocks of 100 ms whose loudness counts.
    static let memory = 100
    /// Decibels a second.
    static let (fall, rise) = (1.0, 0.5)
    /// Decibels a second on the way back to none, once levelling is switched off.
    static let letGo = 6.0
    /// An error so small, in decibels, is nobody's business.
    private static let tolerance = 0.5

    /// In decibels.
    private(set) var gain = 0.0
    private var isMoving = false

    /// Moves the gain over the next `seconds`.
    ///
    /// - Parameters:
    ///   - isOn: Off, the gain goes back to none.
    ///   - loudness: What the host measures without any gain, in LUFS; nil while nothing is known.
    ///   - isSpeaking: It says something at this very moment.
    mutating func advance(by seconds: Double, isOn: Bool, loudness: Double?, isSpeaking: Bool) {
        guard isOn else { return move(to: 0, down: Self.letGo * seconds, up: Self.letGo * seconds) }
        guard isSpeaking, let loudness else { return }
        let wanted = min(max(Self.target - loudness, -Self.range), Self.range)
        isMoving = abs(wanted - gain) > (isMoving ? 0 : Self.tolerance)
        if isMoving { move(to: wanted, down: Self.fall * seconds, up: Self.rise * seconds) }
    }

    private mutating func move(to wanted: Double, down: Double, up: Double) {
        gain = min(max(wanted, gain - down), gain + up)
    }
}
