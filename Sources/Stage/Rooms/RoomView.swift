/// A snapshot of a room.
public struct RoomView: Sendable, Hashable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// The operator's settings.
    public var settings: RoomSettings
    /// Whether the room can be joined.
    public var status: RoomStatus
    /// Whether the room is backstage.
    public var isBackstage: Bool
    /// Whether the audience saw or heard a host at least once.
    public var wasOnAir: Bool
    /// The number of participants, by mode.
    public var counts: RoomCounts
    /// In join order; empty once the room has ended.
    public var participants: [ParticipantView]
    /// The sid of the dominant speaker; nil without one.
    public var dominantSpeakerSID: String?
    /// The current layout.
    public var layout: LayoutView
    /// The raised hands, in order of raising.
    public var hands: [Hand]
    /// The load of the room's mixer in its last report; nil before the first.
    public var load: MixerLoad?
    /// The frame statistics of the program in the mixer's last report; nil before the first.
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
    /// The effective linger time in seconds.
    public var lingerTime: Int { settings.lingerTime(afterShow: wasOnAir) }
    /// The tiles on air, in order of position.
    public var tiles: [Tile] { layout.tiles }
    /// The participants that may publish, in join order.
    public var hosts: [ParticipantView] { participants.filter { $0.mode == .sendAndReceive } }

    /// Returns a participant by sid or identity.
    public func participant(_ reference: String) -> ParticipantView? {
        participants.first { $0.sid == reference } ?? participants.first { $0.identity == reference }
    }
}

/// A room without its participants, cheap enough for every request.
public struct RoomSummary: Sendable, Hashable {
    /// `RM` and 32 hexadecimal digits.
    public var sid: String
    /// The unique name.
    public var name: String
    /// The type of call.
    public var type: RoomType
    /// Whether the room can be joined.
    public var status: RoomStatus
    /// Whether the room is backstage.
    public var isBackstage: Bool
    /// The number of participants, by mode.
    public var counts: RoomCounts
    /// The revision of the room's latest event.
    public var revision: UInt64
    /// Seconds since 1970; nil while the room is in progress.
    public var endedAt: Double?
}

/// The status of a room.
public enum RoomStatus: String, Sendable, Hashable, Codable {
    case inProgress = "in-progress"
    case completed
}

/// The number of participants of a room, by mode.
///
/// Players that are not participants are not counted.
public struct RoomCounts: Sendable, Hashable {
    /// SEND_AND_RECV.
    public var hosts: Int
    /// RECV_ONLY: the signalled part of the audience.
    public var receiveOnly: Int
    /// SIGNALLING_ONLY.
    public var signallingOnly: Int

    /// All participants of every mode; limited by `max_participants`.
    public var participants: Int { hosts + receiveOnly + signallingOnly }

    /// Creates the counts; zero by default.
    public init(hosts: Int = 0, receiveOnly: Int = 0, signallingOnly: Int = 0) {
        self.hosts = hosts
        self.receiveOnly = receiveOnly
        self.signallingOnly = signallingOnly
    }

    /// The count of one mode.
    public subscript(mode: ParticipantMode) -> Int {
        get {
            switch mode {
            case .sendAndReceive: hosts
            case .receiveOnly: receiveOnly
            case .signallingOnly: signallingOnly
            }
        }
        set {
            switch mode {
            case .sendAndReceive: hosts = newValue
            case .receiveOnly: receiveOnly = newValue
            case .signallingOnly: signallingOnly = newValue
            }
        }
    }
}
