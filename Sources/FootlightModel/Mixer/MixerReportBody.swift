public import Stage

/// The body of `POST /v1/rooms/{room}/mixer/report`: a report of the room's mixer.
public struct MixerReportBody: Codable, Sendable, Hashable {
    /// The hosts in the mix.
    public var participants: [MixerReportEntry]
    /// The load of the mixer; absent if unknown.
    public var load: MixerLoadResource?
    /// The frame statistics of the program; absent if unknown.
    public var frames: MixerFramesResource?
    /// The level of the program; absent if unknown.
    public var program: ProgramLevelResource?

    /// Makes a report.
    public init(participants: [MixerReportEntry]) {
        self.participants = participants
    }
}

/// The mixer's report about one host.
public struct MixerReportEntry: Codable, Sendable, Hashable {
    /// The participant's sid.
    public var sid: String
    /// dBFS, -127 for silence; null without a microphone.
    @ExplicitNull public var audioLevel: Double?
    /// The tracks whose media can be decoded: `mic`, `camera`, `screen`.
    public var subscribed: [WireEnum<TrackName>]
    /// The A/V sync of the host's media; absent if unknown.
    public var sync: SyncResource?
    /// The A/V sync of the host's screen, where `sync` belongs to its camera; absent otherwise.
    public var screenSync: SyncResource?
    /// The peak sample of the last 100 ms in dBFS; absent without a microphone.
    public var peak: Double?
    /// The current gain of loudness normalization in decibels; absent without a microphone.
    public var levelling: Double?

    /// Makes an entry.
    public init(
        sid: String,
        audioLevel: Double?,
        subscribed: [WireEnum<TrackName>],
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

/// The load of a room's mixer.
public struct MixerLoadResource: Codable, Sendable, Hashable {
    /// The degradation level, 0 to 6; each level adds to those before it, and none drops audio.
    ///
    /// 1: reduced motion search. 2: smaller tiles not updated. 3: one frame in three. 4: only the first tiles and the
    /// dominant speaker updated. 5: no renditions. 6: no host video.
    public var level: Int
    /// `frame_work` or `encoder_queue`; absent on level 0.
    public var reason: WireEnum<MixerLoad.Reason>?
    /// The part of the frame interval that a slow frame takes; 1 is the limit.
    public var work: Double
    /// The processor cores in use.
    public var cores: Double
    /// The load of each rendition; absent without renditions.
    public var renditions: [RenditionLoadResource]?

    /// Makes a load.
    public init(
        level: Int,
        reason: WireEnum<MixerLoad.Reason>? = nil,
        work: Double,
        cores: Double,
        renditions: [RenditionLoadResource]? = nil
    ) {
        self.level = level
        self.reason = reason
        self.work = work
        self.cores = cores
        self.renditions = renditions
    }
}

/// The load of one rendition.
public struct RenditionLoadResource: Codable, Sendable, Hashable {
    /// The name, such as `720p`.
    public var name: String
    /// Frames dropped because the encoder was too slow.
    public var dropped: Int

    /// Makes a rendition's load.
    public init(name: String, dropped: Int) {
        self.name = name
        self.dropped = dropped
    }
}

/// Frame statistics of a program since its mixer started.
public struct MixerFramesResource: Codable, Sendable, Hashable {
    /// Encoded frames by processing time: up to 2, 5, 10, 15, 20, 25, 33, 40, 50, 100, 250 ms, a second, and more.
    public var counts: [Int]
    /// The total processing time in seconds.
    public var seconds: Double
    /// Lost frames by stage: `compose`, `encode`, `degrade`, `rendition`, `jump`.
    public var lost: [WireEnum<MixerFrames.Loss>: Int]

    /// Creates statistics.
    public init(counts: [Int], seconds: Double, lost: [WireEnum<MixerFrames.Loss>: Int]) {
        self.counts = counts
        self.seconds = seconds
        self.lost = lost
    }
}
