/// Where and how a host publishes.
public struct IngestResource: Codable, Sendable, Hashable {
    /// By RTMP.
    public var rtmp: RTMPIngestResource

    /// Makes ingest addresses.
    public init(rtmp: RTMPIngestResource) {
        self.rtmp = rtmp
    }

    private enum CodingKeys: String, CodingKey {
        case rtmp
    }
}
