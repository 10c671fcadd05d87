/// A room's set of outputs.
public struct LivestreamResource: Codable, Sendable, Hashable {
    /// `LIVESTREAM_STARTING`, `LIVESTREAM_STARTED`, `LIVESTREAM_STOPPING` or `LIVESTREAM_STOPPED`.
    public var state: String
    /// When the first output connected; null before.
    @ExplicitNull public var startedAt: Timestamp?
    /// Why it stopped: `command`, `max_duration`, `idle`, `not_started`, `lost` or `room_ended`; null while it runs.
    @ExplicitNull public var endReason: String?
    /// In the order they were given.
    public var outputs: [OutputResource]
    /// What is not as the outputs' platforms ask for; left out when all is.
    public var warnings: [WarningResource]?

    /// Makes a livestream.
    public init(state: String, startedAt: Timestamp?, endReason: String? = nil, outputs: [OutputResource]) {
        self.state = state
        self.startedAt = startedAt
        self.endReason = endReason
        self.outputs = outputs
    }

    private enum CodingKeys: String, CodingKey {
        case state
        case startedAt = "started_at"
        case endReason = "end_reason"
        case outputs
        case warnings
    }
}
