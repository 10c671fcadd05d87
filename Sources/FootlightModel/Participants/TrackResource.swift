public import Stage

/// A track of a host.
public struct TrackResource: Codable, Sendable, Hashable {
    /// `MT…`.
    public var sid: String
    /// `mic`, `camera` or `screen`.
    public var name: WireEnum<TrackName>
    /// `audio` or `video`.
    public var kind: WireEnum<TrackKind>
    /// Whether the track is published.
    public var published: Bool
    /// Whether its media is part of the program.
    public var subscribed: Bool
    /// Whether the track is not muted.
    public var enabled: Bool
    /// `blocked`, `off`, `receivable`, `loading`, `playable` or `interrupted`.
    public var mediaState: WireEnum<MediaState>
    /// Pixels; null for audio and while unknown.
    @ExplicitNull public var width: Int?
    /// Pixels; null for audio and while unknown.
    @ExplicitNull public var height: Int?
    /// Frames per second; null for audio and while unknown.
    @ExplicitNull public var fps: Double?
    /// Such as `H.264`; null while unknown.
    @ExplicitNull public var codec: String?

    /// Makes a track.
    public init(
        sid: String,
        name: WireEnum<TrackName>,
        kind: WireEnum<TrackKind>,
        published: Bool,
        subscribed: Bool,
        enabled: Bool,
        mediaState: WireEnum<MediaState>,
        width: Int?,
        height: Int?,
        fps: Double?,
        codec: String?
    ) {
        self.sid = sid
        self.name = name
        self.kind = kind
        self.published = published
        self.subscribed = subscribed
        self.enabled = enabled
        self.mediaState = mediaState
        self.width = width
        self.height = height
        self.fps = fps
        self.codec = codec
    }

    private enum CodingKeys: String, CodingKey {
        case sid
        case name
        case kind
        case published
        case subscribed
        case enabled
        case mediaState = "media_state"
        case width
        case height
        case fps
        case codec
    }
}

/// The body of `PUT /v1/rooms/{room}/participants/{participant}/tracks/{track}`.
public struct PublishTrackBody: Codable, Sendable, Hashable {
    /// `audio` or `video`; the track's own when omitted.
    public var kind: WireEnum<TrackKind>?
    /// Whether the track is not muted; true when omitted.
    public var enabled: Bool?

    /// Makes a body; what is left out is nil.
    public init(kind: WireEnum<TrackKind>? = nil, enabled: Bool? = nil) {
        self.kind = kind
        self.enabled = enabled
    }
}

/// The body of `PATCH /v1/rooms/{room}/participants/{participant}/tracks/{track}`.
public struct UpdateTrackBody: Codable, Sendable, Hashable {
    /// Whether the track is not muted.
    public var enabled: Bool

    /// Makes a body.
    public init(enabled: Bool) {
        self.enabled = enabled
    }
}
