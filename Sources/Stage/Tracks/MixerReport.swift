/// What a room's mixer hears and sees of the hosts, told up to ten times a second.
public struct MixerReport: Sendable, Equatable {
    /// One host as the mixer has it.
    public struct Entry: Sendable, Equatable {
        /// The host's sid.
        public var participantSID: String
        /// In dBFS, -127 (silence) to 0; nil without a microphone.
        public var audioLevel: Double?
        /// The tracks whose media can be decoded.
        public var subscribed: Set<TrackName>
        /// How its media keeps time; nil where that is not known.
        public var sync: HostSync?
        /// How its screen keeps time, where `sync` is of its camera; nil otherwise.
        public var screenSync: HostSync?

        /// Makes an entry.
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

    /// The hosts it knows something of; of others nothing changes.
    public var entries: [Entry]
    /// How the mixer itself is doing; nil where that is not known.
    public var load: MixerLoad?
    /// What became of the program's pictures; nil where that is not known.
    public var frames: MixerFrames?

    /// Makes a report.
    public init(entries: [Entry], load: MixerLoad? = nil, frames: MixerFrames? = nil) {
        self.entries = entries
        self.load = load
        self.frames = frames
    }
}
