/// Where a room's program is played from.
public struct PlaybackResource: Codable, Sendable, Hashable {
    /// HLS, a multivariant playlist.
    public var hlsURL: String
    /// RTMP.
    public var rtmpURL: String
    /// HTTP-FLV.
    public var flvURL: String
    /// The participant's own session id; null where nobody in particular asks.
    ///
    /// A player that presents it as `sid`, as the addresses then do, counts as that participant and not once more; of a host it is no audience.
    @ExplicitNull public var viewerToken: String?

    /// Makes addresses.
    public init(hlsURL: String, rtmpURL: String, flvURL: String, viewerToken: String? = nil) {
        self.hlsURL = hlsURL
        self.rtmpURL = rtmpURL
        self.flvURL = flvURL
        self.viewerToken = viewerToken
    }

    private enum CodingKeys: String, CodingKey {
        case hlsURL = "hls_url"
        case rtmpURL = "rtmp_url"
        case flvURL = "flv_url"
        case viewerToken = "viewer_token"
    }
}
