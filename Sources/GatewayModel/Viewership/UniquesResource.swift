/// Distinct viewers of a broadcast.
public struct UniquesResource: Codable, Sendable, Hashable {
    /// Known by their tokens.
    public var users: Int
    /// By token, by the id that a device keeps, or else by playback: never fewer than there were.
    public var devices: Int
    /// By address and player: an estimate, in which one viewer of two days is two.
    public var estimated: Int
    /// One of them is estimated to 0.8 %: of more than a million, in a group or a time of more than 100,000.
    public var approximate: Bool

    /// Makes a count.
    public init(users: Int = 0, devices: Int = 0, estimated: Int = 0, approximate: Bool = false) {
        self.users = users
        self.devices = devices
        self.estimated = estimated
        self.approximate = approximate
    }

    private enum CodingKeys: String, CodingKey {
        case users
        case devices
        case estimated
        case approximate
    }
}
