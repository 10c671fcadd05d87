/// How loud a room is at this moment: an event of `GET /v1/rooms/{room}/levels`.
public struct LevelsResource: Codable, Sendable, Hashable {
    /// The hosts with a microphone that is on.
    public var hosts: [HostLevelResource]
    /// The program; left out where that is not known.
    public var program: ProgramLevelResource?

    /// Makes a reading.
    public init(hosts: [HostLevelResource], program: ProgramLevelResource? = nil) {
        self.hosts = hosts
        self.program = program
    }

    private enum CodingKeys: String, CodingKey {
        case hosts
        case program
    }
}
