/// Tells what a host says from the noise of its room, by how loud it is beside what was said before and how it moves.
///
/// Speech rises and falls with every syllable; a fan, a street and a microphone's own noise stay as they are. So what is
/// quiet and even is noise, and what is far quieter than the host's speech is at least not that. A host who goes on
/// speaking much more quietly, into another microphone perhaps, is speech again after a while.
struct SpeechGate: Sendable {
    /// LU below the host's speech that still are speech.
    static let depth = 12.0
    /// Quieter than this, in LUFS, even sound is noise.
    static let quiet = -35.0
    /// Sound whose loudness stays within this many LU for three seconds is even.
    static let evenness = 5.0
    /// LU that what was said before counts less with each block (100 ms) of uneven sound below it.
    static let sinking = 0.01

    /// The loudness of the host's speech, in LUFS; nil before there was any.
    private var speech: Double?

    /// Whether a block of 100 ms counts as speech.
    ///
    /// - Parameters:
    ///   - loudness: In LUFS.
    ///   - spread: LU between the quiet and the loud of the last seconds.
    mutating func passes(_ loudness: Double, spread: Double) -> Bool {
        let isEven = spread < Self.evenness
        if isEven, loudness < Self.quiet { return false }
        guard let speech, loudness < speech - Self.depth else { return true }
        if !isEven { self.speech = speech - Self.sinking }
        return false
    }

    /// Takes in what the host's speech measures, with the last block.
    mutating func hear(_ loudness: Double) {
        speech = max(speech ?? loudness, loudness)
    }
}
