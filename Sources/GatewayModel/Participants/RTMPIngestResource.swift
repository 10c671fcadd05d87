/// Where and how a host publishes by RTMP.
public struct RTMPIngestResource: Codable, Sendable, Hashable {
    /// The server address for the encoder.
    public var url: String
    /// The secret for camera and microphone; shown only here.
    public var streamKey: String
    /// The secret for the screen; shown only here.
    public var screenStreamKey: String

    /// Makes an address.
    public init(url: String, streamKey: String, screenStreamKey: String) {
        self.url = url
        self.streamKey = streamKey
        self.screenStreamKey = screenStreamKey
    }

    private enum CodingKeys: String, CodingKey {
        case url
        case streamKey = "stream_key"
        case screenStreamKey = "screen_stream_key"
    }
}
