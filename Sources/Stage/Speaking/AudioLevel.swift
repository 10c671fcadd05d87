/// How loud one participant is at a moment.
public struct AudioLevel: Sendable, Hashable {
    /// What silence is, in dBFS.
    public static let silence = -127.0

    /// The participant's sid.
    public var participantSID: String
    /// In dBFS, -127 (silence) to 0; nil while no microphone is heard.
    public var level: Double?
    /// Decibels by which it is changed on its way to the audience.
    public var gain: Double

    /// Makes a level; one outside of the range is brought into it.
    public init(participantSID: String, level: Double?, gain: Double = 0) {
        self.participantSID = participantSID
        self.gain = gain
        self.level = level.map { $0.isNaN ? Self.silence : min(max($0, Self.silence), 0) }
    }

    /// The audience never hears anything of the participant.
    var isFadedOut: Bool { gain <= ParticipantSound.silentGain }

    /// How loud it is for the audience, in dBFS; nil while no microphone is heard.
    var heard: Double? {
        level.map { isFadedOut ? Self.silence : max($0 + gain, Self.silence) }
    }
}
