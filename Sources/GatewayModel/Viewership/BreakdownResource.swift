/// Viewers by what tells them apart.
public struct BreakdownResource: Codable, Sendable, Hashable {
    /// By `sdk`, `rtmp`, `flv`, `hls` and `llhls`; all keys are there.
    public var byProtocol: [String: Int]
    /// By the name of the rendition; the empty one is the program as it is.
    public var byRendition: [String: Int]
    /// By country, or country and region, in ISO codes; empty where nobody knows.
    public var byRegion: [String: Int]
    /// By `web`, `ios`, `android`, `tv`, `tool` and `unknown`.
    public var byClient: [String: Int]

    /// Makes a breakdown.
    public init(
        byProtocol: [String: Int],
        byRendition: [String: Int] = [:],
        byRegion: [String: Int] = [:],
        byClient: [String: Int] = [:]
    ) {
        self.byProtocol = byProtocol
        self.byRendition = byRendition
        self.byRegion = byRegion
        self.byClient = byClient
    }

    private enum CodingKeys: String, CodingKey {
        case byProtocol = "protocol"
        case byRendition = "rendition"
        case byRegion = "region"
        case byClient = "client"
    }
}
