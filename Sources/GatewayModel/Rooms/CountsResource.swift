/// How many are in a room and watch it.
public struct CountsResource: Codable, Sendable, Hashable {
    /// Participants that publish.
    public var hosts: Int
    /// Who watches: participants that watch, once each, and anonymous players; never a host.
    public var audience: Int
    /// Players that belong to no participant that is present.
    public var anonymous: Int
    /// Participants that neither publish nor watch.
    public var signallingOnly: Int
    /// Signalled participants of every mode.
    public var participants: Int

    /// Makes counts.
    public init(hosts: Int, audience: Int, anonymous: Int, signallingOnly: Int, participants: Int) {
        self.hosts = hosts
        self.audience = audience
        self.anonymous = anonymous
        self.signallingOnly = signallingOnly
        self.participants = participants
    }

    private enum CodingKeys: String, CodingKey {
        case hosts
        case audience
        case anonymous
        case signallingOnly = "signalling_only"
        case participants
    }
}
