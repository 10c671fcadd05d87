/// Viewers by what tells them apart.
public struct BreakdownResource: Codable, Sendable, Hashable {
    /// By `sdk`, `rtmp`, `flv`, `hls` and `llhls`; all keys are there.
    public var byProtocol: [String: Int]

    /// Makes a breakdown.
    public init(byProtocol: [String: Int]) {
        self.byProtocol = byProtocol
    }

    private enum CodingKeys: String, CodingKey {
        case byProtocol = "protocol"
    }
}
