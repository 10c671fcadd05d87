/// A report of a room's mixer about the hosts, up to ten times a second.
public struct MixerReport: Sendable, Equatable {
    /// The report about one host.
    public struct Entry: Sendable, Equatable {
        /// The host's sid.
        public var participantSID: String
        /// In dBFS, -127 (silence) to 0; nil without a microphone.
        public var audioLevel: Double?
        /// The tracks whose media can be decoded.
        public var subscribed: Set<TrackName>
        /// The A/V sync of its media; nil if unknown.
        public var sync: HostSync?
        /// The A/V sync of its screen, where `sync` belongs to its camera; nil otherwise.
        public var screenSync: HostSync?

        /// Creates an entry.
        public init(
            participantSID: String,
            audioLevel: Double?,
            subscribed: Set<TrackName>,
            sync: HostSync? = nil,
            screenSync: HostSync? = nil
        ) {
            self.participantSID = participantSID
            self.audioLevel = audioLevel
            self.subscribed = subscribed
            self.sync = sync
            self.screenSync = screenSync
        }
    }

    /// The known hosts; other hosts stay unchanged.
    public var entries: [Entry]
    /// The load of the mixer; nil if unknown.
    public var load: MixerLoad?
    /// The frame statistics of the program; nil if unknown.
    public var frames: MixerFrames?

    /// Creates a report.
    public init(entries: [Entry], load: MixerLoad? = nil, frames: MixerFrames? = nil) {
        self.entries = entries
        self.load = load
        self.frames = frames
    }
}

/// The load of a room's mixer.
public struct MixerLoad: Sendable, Hashable {
    /// The reason of a degradation.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// Making a frame takes nearly the frame interval.
        case work = "frame_work"
        /// Frames wait to be encoded.
        case queue = "encoder_queue"
    }

    /// The degradation level, 0 to 6; each level adds to those before it, and none drops audio.
    ///
    /// 1: reduced motion search. 2: smaller tiles not updated. 3: one frame in three. 4: only the first tiles and the
    /// dominant speaker updated. 5: no renditions. 6: no host video.
    public var level: Int
    /// The reason; nil on level 0.
    public var reason: Reason?
    /// The part of the frame interval that a slow frame takes; 1 is the limit.
    public var work: Double
    /// The processor cores in use.
    public var cores: Double
    /// The load of each rendition; empty without renditions.
    public var renditions: [RenditionLoad]

    /// Creates a load.
    public init(level: Int, reason: Reason?, work: Double, cores: Double, renditions: [RenditionLoad] = []) {
        self.level = level
        self.reason = reason
        self.work = work
        self.cores = cores
        self.renditions = renditions
    }
}

/// The load of one rendition.
public struct RenditionLoad: Sendable, Hashable {
    /// The name, such as `720p`.
    public var name: String
    /// Frames dropped because the encoder was too slow.
    public var dropped: Int

    /// Creates a rendition's load.
    public init(name: String, dropped: Int) {
        self.name = name
        self.dropped = dropped
    }
}

/// Frame statistics of a program since its mixer started.
public struct MixerFrames: Sendable, Hashable {
    /// The stage at which frames are lost.
    public enum Loss: String, Sendable, Hashable, CaseIterable {
        /// Not composed in time; the previous frame was repeated.
        case compose
        /// The encoder's queue was full.
        case encode
        /// Dropped by load shedding.
        case degrade
        /// The encoder of a rendition was too slow.
        case rendition
        /// The program was more than a second late and skipped ahead.
        case jump
    }

    /// The upper bounds of `counts` in seconds.
    public static let bounds = [0.002, 0.005, 0.01, 0.015, 0.02, 0.025, 0.033, 0.04, 0.05, 0.1, 0.25, 1]

    /// The maximum plausible number of frames; sums of higher numbers could overflow.
    private static let maximumCount = 1 << 50

    /// The encoded frames by processing time; the last bucket holds those beyond the bounds.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The total processing time in seconds.
    public private(set) var seconds = 0.0
    /// The lost frames by stage.
    public var lost: [Loss: Int] = [:]

    /// Creates empty statistics.
    public init() {}

    /// Creates reported statistics; nil for other bounds or implausible numbers.
    public init?(counts: [Int], seconds: Double, lost: [Loss: Int]) {
        guard counts.count == Self.bounds.count + 1, counts.allSatisfy({ (0...Self.maximumCount).contains($0) }),
            seconds >= 0, seconds <= Double(Self.maximumCount)
        else { return nil }
        self.counts = counts
        self.seconds = seconds
        self.lost = lost.filter { (0...Self.maximumCount).contains($0.value) }
    }

    /// Records a frame with its processing time in seconds.
    public mutating func insert(_ time: Double) {
        counts[Self.bounds.firstIndex { time <= $0 } ?? Self.bounds.count] += 1
        seconds += time
    }
}
