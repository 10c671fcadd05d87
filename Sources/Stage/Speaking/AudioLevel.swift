/// How loud one participant is at a moment.
public struct AudioLevel: Sendable, Hashable {
    /// What silence is, in dBFS.
    public static let silence = -127.0

    /// The participant's sid.
    public var participantSID: String
    /// In dBFS, -127 (silence) to 0; nil while no microphone is heard.
    public var level: Double?

    /// Makes a level; one outside of the range is brought into it.
    public init(participantSID: String, level: Double?) {
        self.participantSID = participantSID
        self.level = level.map { $0.isNaN ? Self.silence : min(max($0, Self.silence), 0) }
    }
}
