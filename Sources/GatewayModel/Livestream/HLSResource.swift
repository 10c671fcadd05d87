/// A room's playlist for the audience.
public struct HLSResource: Codable, Sendable, Hashable {
    /// `HLS_STARTING`, `HLS_STARTED`, `HLS_PLAYABLE`, `HLS_STOPPING` or `HLS_STOPPED`.
    public var state: String
    /// When it became playable; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// Where to play it; null before it is playable.
    @ExplicitNull public var playbackHLSURL: String?

    /// Makes a state.
    public init(state: String, startedAt: Timestamp?, playbackHLSURL: String?) {
        self.state = state
        self.startedAt = startedAt
        self.playbackHLSURL = playbackHLSURL
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case startedAt = "started_at"
        case playbackHLSURL = "playback_hls_url"
    }
}
