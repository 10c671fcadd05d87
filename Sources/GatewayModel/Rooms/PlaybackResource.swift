/// Where a room's program is played from.
public struct PlaybackResource: Codable, Sendable, Hashable {
    /// HLS, a multivariant playlist.
    public var hlsURL: String
    /// RTMP.
    public var rtmpURL: String
    /// HTTP-FLV.
    public var flvURL: String

    /// Makes addresses.
    public init(hlsURL: String, rtmpURL: String, flvURL: String) {
        self.hlsURL = hlsURL
        self.rtmpURL = rtmpURL
        self.flvURL = flvURL
    }

    private enum CodingKeys: String, CodingKey {
        case hlsURL = "hls_url"
        case rtmpURL = "rtmp_url"
        case flvURL = "flv_url"
    }
}
