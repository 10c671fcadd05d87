/// One host as the mixer hears and sees it.
public struct MixerReportEntry: Codable, Sendable, Hashable {
    /// The participant.
    public var sid: String
    /// dBFS, -127 for silence; null without a microphone.
    @ExplicitNull public var audioLevel: Double?
    /// The tracks whose media can be decoded: `mic`, `camera`, `screen`.
    public var subscribed: [String]
    /// How the host's media keeps time; left out where that is not known.
    public var sync: SyncResource?
    /// How the host's screen keeps time, where `sync` is of its camera; left out otherwise.
    public var screenSync: SyncResource?
    /// The largest sample of the last tenth of a second in dBFS; left out without a microphone.
    public var peak: Double?
    /// Decibels by which levelling turns the host up, or down; left out without a microphone.
    public var levelling: Double?

    /// Makes an entry.
    public init(
        sid: String,
        audioLevel: Double?,
        subscribed: [String],
        sync: SyncResource? = nil,
        screenSync: SyncResource? = nil
    ) {
        self.sid = sid
        self.audioLevel = audioLevel
        self.subscribed = subscribed
        self.sync = sync
        self.screenSync = screenSync
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case audioLevel = "audio_level"
        case subscribed
        case sync
        case screenSync = "screen_sync"
        case peak
        case levelling = "levelling_db"
    }
}
