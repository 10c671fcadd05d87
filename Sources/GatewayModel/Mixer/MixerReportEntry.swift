/// One host as the mixer hears and sees it.
public struct MixerReportEntry: Codable, Sendable, Hashable {
    /// The participant.
    public var sid: String
    /// dBFS, -127 for silence; null without a microphone.
    @ExplicitNull public var audioLevel: Double?
    /// The tracks whose media can be decoded: `mic`, `camera`, `screen`.
    public var subscribed: [String]

    /// Makes an entry.
    public init(sid: String, audioLevel: Double?, subscribed: [String]) {
        self.sid = sid
        self.audioLevel = audioLevel
        self.subscribed = subscribed
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case audioLevel = "audio_level"
        case subscribed
    }
}
