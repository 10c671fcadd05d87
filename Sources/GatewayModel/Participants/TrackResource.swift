/// A track of a host.
public struct TrackResource: Codable, Sendable, Hashable {
    /// `MT…`.
    public var sid: String
    /// `mic`, `camera` or `screen`.
    public var name: String
    /// `audio` or `video`.
    public var kind: String
    /// The host offers the track.
    public var published: Bool
    /// Its media goes into the program.
    public var subscribed: Bool
    /// Not muted.
    public var enabled: Bool
    /// `blocked`, `off`, `receivable`, `loading`, `playable` or `interrupted`.
    public var mediaState: String
    /// Pixels; null for sound and while unknown.
    @ExplicitNull public var width: Int?
    /// Pixels; null for sound and while unknown.
    @ExplicitNull public var height: Int?
    /// Pictures per second; null for sound and while unknown.
    @ExplicitNull public var fps: Double?
    /// Such as `H.264`; null while unknown.
    @ExplicitNull public var codec: String?

    /// Makes a track.
    public init(
        sid: String,
        name: String,
        kind: String,
        published: Bool,
        subscribed: Bool,
        enabled: Bool,
        mediaState: String,
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
