/// Everything of a participant that must outlive the process.
public struct ParticipantRecord: Sendable, Hashable, Codable {
    /// `PA` and 32 hexadecimal digits.
    public var sid: String
    /// Names the stay; the client comes back with it.
    public var sessionID: String
    /// Who it is.
    public var identity: String
    /// The name on the tile.
    public var displayName: String
    /// A JSON object in its canonical text.
    public var metadata: String
    /// The picture that stands for the participant.
    public var avatar: AssetReference?
    /// How the participant is mixed as a host.
    public var sound: ParticipantSound
    /// What holds of the client's wishes.
    public var callSettings: CallSettings
    /// The tracks that the participant may publish.
    public var sources: Set<TrackName>
    /// What the participant may do.
    public var mode: ParticipantMode
    /// Whether there ever was an event stream or a heartbeat.
    public var hasSession: Bool
    /// What was said of each track; those left out are automatic.
    public var wishes: [TrackName: TrackWish]
    /// The tracks that are published when their media arrives; nil for all.
    public var automaticTracks: Set<TrackName>?
    /// Seconds since 1970.
    public var joinedAt: Double
    /// Counts the changes.
    public var revision: UInt64
}
