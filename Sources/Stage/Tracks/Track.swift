/// One track of a host.
public struct Track: Sendable, Hashable {
    /// `MT` and 32 hexadecimal digits.
    public let sid: String
    /// Which of the three it is.
    public let name: TrackName
    /// The mixer decodes its media.
    public var isSubscribed: Bool
    /// Not muted.
    public var isEnabled: Bool
    /// Its media has been decoded before.
    public var hasPlayed: Bool
    /// Picture width in pixels; nil for sound and while unknown.
    public var width: Int?
    /// Picture height in pixels; nil for sound and while unknown.
    public var height: Int?
    /// Pictures per second as the encoder says; nil for sound and while unknown.
    public var frameRate: Double?
    /// The codec's usual name, such as `H.264`.
    public var codec: String?

    init(name: TrackName, isEnabled: Bool) {
        sid = StageIdentifier.make("MT")
        self.name = name
        isSubscribed = false
        self.isEnabled = isEnabled
        hasPlayed = false
    }

    /// A track exists only while it is published, so being on needs the other two.
    public var isOn: Bool { isSubscribed && isEnabled }

    /// Whether the media can be played at this moment.
    public var mediaState: MediaState {
        if !isEnabled { return .off }
        if isSubscribed { return .playable }
        return hasPlayed ? .interrupted : .loading
    }

    /// Takes over what the encoder says of itself.
    mutating func describe(_ media: PublishedMedia) {
        switch name.kind {
        case .audio:
            codec = media.audioCodec
        case .video:
            codec = media.videoCodec
            width = media.width
            height = media.height
            frameRate = media.frameRate
        }
    }
}
