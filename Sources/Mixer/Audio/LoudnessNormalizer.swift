/// Moves one host's gain slowly to a common loudness.
///
/// The gain follows the loudness of the host's speech of the last ten seconds: by 1 dB a second downwards, 0.5 upwards,
/// at most 12 dB either way. While the host is silent the gain is frozen, so that pauses do not raise room noise; see
/// `VoiceActivityGate`.
struct LoudnessNormalizer: Sendable {
    /// The target loudness in LUFS.
    static let target = -16.0
    /// The loudness in LUFS below which audio counts as silence.
    static let gate = -50.0
    /// The largest gain in decibels, in either direction.
    static let range = 12.0
    /// The number of 100 ms blocks whose loudness counts.
    static let memory = 100
    /// Decibels per second.
    static let (fall, rise) = (1.0, 0.5)
    /// Decibels per second back to 0 dB, once normalization is switched off.
    static let resetRate = 6.0
    /// The error in decibels that is tolerated.
    private static let tolerance = 0.5

    /// The gain in decibels.
    private(set) var gain = 0.0
    private var isMoving = false

    /// Moves the gain over the next `seconds`.
    ///
    /// - Parameters:
    ///   - isOn: When off, the gain returns to 0 dB.
    ///   - loudness: The host's loudness before any gain, in LUFS; nil while unknown.
    ///   - isSpeaking: The host is speaking at this moment.
    mutating func advance(by seconds: Double, isOn: Bool, loudness: Double?, isSpeaking: Bool) {
        guard isOn else { return move(to: 0, down: Self.resetRate * seconds, up: Self.resetRate * seconds) }
        guard isSpeaking, let loudness else { return }
        let target = min(max(Self.target - loudness, -Self.range), Self.range)
        isMoving = abs(target - gain) > (isMoving ? 0 : Self.tolerance)
        if isMoving { move(to: target, down: Self.fall * seconds, up: Self.rise * seconds) }
    }

    private mutating func move(to target: Double, down: Double, up: Double) {
        gain = min(max(target, gain - down), gain + up)
    }
}

/// Separates a host's speech from room noise by its loudness relative to earlier speech and by its variation.
///
/// The loudness of speech varies with every syllable; that of fans, streets and microphone noise is constant. So audio
/// that is quiet and constant is noise, and audio far quieter than the host's speech is not counted as speech. A host
/// who continues to speak much more quietly, for example into another microphone, counts as speech again after a while.
struct VoiceActivityGate: Sendable {
    /// LU below the host's speech that still count as speech.
    static let depth = 12.0
    /// The loudness in LUFS below which constant audio is noise.
    static let quiet = -35.0
    /// Audio whose loudness stays within this many LU for three seconds is constant.
    static let evenness = 5.0
    /// LU by which the reference decreases with each 100 ms block of varying audio below it.
    static let sinking = 0.01

    /// The reference loudness of the host's speech, in LUFS; nil before the first.
    private var speech: Double?

    /// Returns whether a block of 100 ms counts as speech.
    ///
    /// - Parameters:
    ///   - loudness: The loudness in LUFS.
    ///   - spread: LU between the quiet and the loud steps of the last seconds.
    mutating func passes(_ loudness: Double, spread: Double) -> Bool {
        let isEven = spread < Self.evenness
        if isEven, loudness < Self.quiet { return false }
        guard let speech, loudness < speech - Self.depth else { return true }
        if !isEven { self.speech = speech - Self.sinking }
        return false
    }

    /// Raises the reference to the loudness of the last block of speech.
    mutating func update(_ loudness: Double) {
        speech = max(speech ?? loudness, loudness)
    }
}
