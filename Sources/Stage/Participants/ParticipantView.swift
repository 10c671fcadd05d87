/// A participant as everybody may see it, at one moment.
public struct ParticipantView: Sendable, Hashable {
    /// `PA` and 32 hexadecimal digits.
    public var sid: String
    /// Who it is; unique in the room.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// A JSON object in its canonical text.
    public var metadata: String
    /// The picture that stands for the participant while there is no other; nil without one.
    public var avatar: AssetReference?
    /// How the participant is mixed as a host.
    public var sound: ParticipantSound
    /// What the participant may do.
    public var mode: ParticipantMode
    /// How firmly the participant is connected.
    public var status: ParticipantStatus
    /// Tracks in the order mic, camera, screen.
    public var tracks: [Track]
    /// Tracks whose media arrives and is dropped, for the host has a session and did not publish them.
    public var discarded: [TrackName] = []
    /// The tile's index; nil without a tile.
    public var position: Int?
    /// The pin for everybody; nil without one.
    public var pin: Pin?
    /// Whether the participant speaks at this moment.
    public var isSpeaking: Bool
    /// Whether the participant has the floor.
    public var isDominantSpeaker: Bool
    /// The microphone's level in dBFS, -127 to 0, as the mixer hears it or else as the client says; nil while unknown.
    ///
    /// It changes without an event and without a new revision.
    public var audioLevel: Double?
    /// How the host's media keeps time; nil while the mixer said nothing of it.
    ///
    /// It changes without an event and without a new revision.
    public var sync: HostSync?
    /// How the host's screen keeps time, where `sync` is of its camera; nil otherwise.
    ///
    /// It changes as `sync` does.
    public var screenSync: HostSync?
    /// Until when nothing is taken of the host, for its media ended the mixer again and again; nil unless it did.
    ///
    /// Seconds since 1970. It stays until the host publishes again, or is released.
    public var quarantinedUntil: Double?
    /// Seconds since 1970.
    public var joinedAt: Double
    /// Counts the changes of this participant.
    public var revision: UInt64

    /// Whether a mic track is heard: published, subscribed and enabled.
    public var isMicOn: Bool { isOn(.mic) }
    /// Whether a camera track is seen: published, subscribed and enabled.
    public var isCameraOn: Bool { isOn(.camera) }
    /// Whether a screen track is seen: published, subscribed and enabled.
    public var isScreenSharing: Bool { isOn(.screen) }

    /// One track by name; nil while it is not published.
    public func track(_ name: TrackName) -> Track? {
        tracks.first { $0.name == name }
    }

    private func isOn(_ name: TrackName) -> Bool {
        track(name)?.isOn ?? false
    }
}
