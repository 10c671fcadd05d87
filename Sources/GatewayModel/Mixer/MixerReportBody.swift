/// The body of `POST /v1/rooms/{room}/mixer/report`: what the room's mixer hears and sees.
public struct MixerReportBody: Codable, Sendable, Hashable {
    /// Each host of the mix.
    public var participants: [MixerReportEntry]

    /// Makes a report.
    public init(participants: [MixerReportEntry]) {
        self.participants = participants
    }

    private enum CodingKeys: String, CodingKey {
        case participants
    }
}
