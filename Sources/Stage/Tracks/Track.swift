/// One track of a host.
public struct Track: Sendable, Hashable {
    /// `MT` and 32 hexadecimal digits.
    public let sid: String
    /// Which of the three it is.
    public let name: TrackName
    /// Its media goes into the program; false while none arrives.
    public var isSubscribed: Bool
    /// Not muted.
    public var isEnabled: Bool
    /// Picture width in pixels; nil for sound and while unknown.
    public var width: Int?
    /// Picture height in pixels; nil for sound and while unknown.
    public var height: Int?
    /// Pictures per second as the encoder says; nil for sound and while unknown.
    public var frameRate: Double?
    /// The codec's usual name, such as `H.264`.
    public var codec: String?

    /// A track exists only while it is published, so being on needs the other two.
    public var isOn: Bool { isSubscribed && isEnabled }

    /// Whether the media can be played at this moment.
    public var mediaState: MediaState {
        if !isEnabled { return .off }
        return isSubscribed ? .playable : .interrupted
    }
}
