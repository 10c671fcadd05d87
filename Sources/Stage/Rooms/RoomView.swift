/// A room at one moment.
public struct RoomView: Sendable, Hashable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// What the operator decided.
    public var settings: RoomSettings
    /// Whether it can be joined.
    public var status: RoomStatus
    /// Whether the hosts prepare and the audience does not see them.
    public var isBackstage: Bool
    /// Whether the audience saw or heard a host at least once.
    public var wasOnAir: Bool
    /// How many participants there are, by mode.
    public var counts: RoomCounts
    /// In join order; empty once the room has ended.
    public var participants: [ParticipantView]
    /// The sid of the participant who has the floor; nil for nobody.
    public var dominantSpeakerSID: String?
    /// What is on air.
    public var layout: LayoutView
    /// The hands that are up, the one that was raised first at the beginning.
    public var hands: [Hand]
    /// How the room's mixer is doing, as it said last; nil before it has.
    public var load: MixerLoad?
    /// What became of the program's pictures, as the mixer said last; nil before it has.
    public var frames: MixerFrames?
    /// The revision of the room's latest event.
    public var revision: UInt64
    /// Seconds since 1970.
    public var createdAt: Double
    /// Seconds since 1970.
    public var updatedAt: Double
    /// Seconds since 1970; nil while the room is in progress.
    public var endedAt: Double?

    /// The unique name.
    public var name: String { settings.name }
    /// Seconds for which the program goes on with its last slate once the room has ended.
    public var lingerTime: Int { settings.lingerTime(afterShow: wasOnAir) }
    /// The tiles on air, in order of position.
    public var tiles: [Tile] { layout.tiles }
    /// The participants that may publish, in join order.
    public var hosts: [ParticipantView] { participants.filter { $0.mode == .sendAndReceive } }

    /// Finds a participant by sid or identity.
    public func participant(_ reference: String) -> ParticipantView? {
        participants.first { $0.sid == reference } ?? participants.first { $0.identity == reference }
    }
}
