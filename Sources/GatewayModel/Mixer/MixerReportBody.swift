/// The body of `POST /v1/rooms/{room}/mixer/report`: what the room's mixer hears and sees.
public struct MixerReportBody: Codable, Sendable, Hashable {
    /// Each host of the mix.
    public var participants: [MixerReportEntry]
    /// How the mixer itself is doing; left out where that is not known.
    public var load: MixerLoadResource?
    /// What became of the program's pictures; left out where that is not known.
    public var frames: MixerFramesResource?
    /// How loud the program is; left out where that is not known.
    public var program: ProgramLevelResource?

    /// Makes a report.
    public init(participants: [MixerReportEntry]) {
        self.participants = participants
    }

    private enum CodingKeys: String, CodingKey {
        case participants
        case load
        case frames
        case program
    }
}
