public import Stage

/// The data of one server-sent event; `type` determines the optional fields.
public struct EventResource: Codable, Sendable, Hashable {
    /// The type, such as `layout.changed`; also the event's name.
    public var type: WireEnum<StageEvent.Name>
    /// The sid of the room; empty for the heartbeat of a stream without a room.
    public var roomSID: String
    /// The room's revision; clients ignore events up to the last known one.
    public var rev: UInt64
    /// The time of the event.
    public var ts: Timestamp
    /// The room; with `room.*`.
    public var room: RoomResource?
    /// The participants, in join order, the hosts among them in their order on stage; with `room.snapshot`.
    public var participants: [ParticipantResource]?
    /// The ringing invitations; with the first event of a user's stream.
    public var invitations: [InvitationResource]?
    /// The raised hands, in order of raising; with `room.snapshot`.
    public var hands: [HandResource]?
    /// The layout; with `room.snapshot` and `layout.changed`.
    public var layout: LayoutResource?
    /// The layout's tiles again, for clients that need only these.
    public var tiles: [TileResource]?
    /// The participant; with `participant.*` and `track.*`.
    public var participant: ParticipantResource?
    /// The track; with `track.*`.
    public var track: TrackResource?
    /// The reason; with `participant.left`, `participant.reconnecting`, `track.unpublished`, `dominant_speaker.changed`
    /// and `hand.lowered`; `type` determines which values are possible.
    public var reason: WireEnum<EventReason>?
    /// The code of the reason; with `participant.reconnecting`: 53001 for signalling, 53405 for media.
    public var code: Int?
    /// The previous mode; with `participant.mode_changed`.
    public var previousMode: WireEnum<ParticipantMode>?
    /// The dominant speaker's sid, null without one; with `dominant_speaker.changed`.
    public var sid: ExplicitNull<String>?
    /// The previous dominant speaker's sid; with `dominant_speaker.changed`.
    public var previousSID: ExplicitNull<String>?
    /// The sid of the pinned participant; with `pin.changed`.
    public var participantSID: String?
    /// The pin, null when removed; with `pin.changed`.
    public var pin: ExplicitNull<PinResource>?
    /// The livestream; with `livestream.state_changed`.
    public var livestream: LivestreamResource?
    /// The output; with `livestream.output_updated`.
    public var output: OutputResource?
    /// The playlist; with `hls.state_changed`.
    public var hls: HLSResource?
    /// The recording; with `recording.state_changed` and `recording.rotated`.
    public var recording: RecordingResource?
    /// The warning; with `livestream.warning`.
    public var warning: WarningResource?
    /// The counts; with `viewership.updated`.
    public var counts: CountsResource?
    /// The viewership; with `viewership.updated`.
    public var viewership: ViewershipResource?
    /// The invitation; with `invitation.*`.
    public var invitation: InvitationResource?
    /// The affected identities; with `invitation.*`.
    public var identities: [String]?
    /// The hand; with `hand.*`.
    public var hand: HandResource?
    /// The application-defined event; with `custom.event`.
    public var custom: CustomEventResource?
    /// The file; with `asset.*`.
    public var asset: AssetResource?
    /// The error; with `session.disconnected`, `participant.media_failed` and `livestream.error`.
    public var error: ErrorResource?

    /// Creates an event; most optional fields are set afterwards.
    public init(
        type: WireEnum<StageEvent.Name>,
        roomSID: String,
        rev: UInt64,
        ts: Timestamp,
        participants: [ParticipantResource]? = nil,
        tiles: [TileResource]? = nil,
        participant: ParticipantResource? = nil
    ) {
        self.type = type
        self.roomSID = roomSID
        self.rev = rev
        self.ts = ts
        self.participants = participants
        self.tiles = tiles
        self.participant = participant
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case roomSID = "room_sid"
        case rev
        case ts
        case room
        case participants
        case invitations
        case hands
        case layout
        case tiles
        case participant
        case track
        case reason
        case code
        case previousMode = "previous_mode"
        case sid
        case previousSID = "previous_sid"
        case participantSID = "participant_sid"
        case pin
        case livestream
        case output
        case hls
        case recording
        case warning
        case counts
        case viewership
        case invitation
        case identities
        case hand
        case custom
        case asset
        case error
    }
}

/// An application-defined event.
public struct CustomEventResource: Codable, Sendable, Hashable {
    /// The type; `reaction` for a reaction.
    public var type: String
    /// The payload.
    public var data: [String: AnyJSON]
    /// The sending participant; null for an operator.
    @ExplicitNull public var participantSID: String?
    /// The identity of that participant; null for an operator.
    @ExplicitNull public var identity: String?

    /// Makes an event.
    public init(type: String, data: [String: AnyJSON], participantSID: String?, identity: String?) {
        self.type = type
        self.data = data
        self.participantSID = participantSID
        self.identity = identity
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case data
        case participantSID = "participant_sid"
        case identity
    }
}

/// The body of `POST /v1/rooms/{room}/events`.
public struct SendEventBody: Codable, Sendable, Hashable {
    /// The type, `[A-Za-z0-9._-]{1,64}`; `reaction` for a reaction.
    public var type: String
    /// The payload, up to 4 KiB; empty when omitted.
    public var data: [String: AnyJSON]?

    /// Makes a body.
    public init(type: String, data: [String: AnyJSON]? = nil) {
        self.type = type
        self.data = data
    }
}

/// A revision as clients send it: a number, or the text of an event's `id` line.
public struct EventID: Codable, Sendable, Hashable {
    /// The revision.
    public var revision: UInt64

    /// Wraps a revision.
    public init(_ revision: UInt64) {
        self.revision = revision
    }

    /// Decodes a whole number, or text that is one.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self), let revision = UInt64(text) {
            self.revision = revision
        } else {
            revision = try container.decode(UInt64.self)
        }
    }

    /// Encodes a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(revision)
    }
}
