public import Stage

/// Who may watch a room's program.
public struct AccessResource: Codable, Sendable, Hashable {
    /// `public`, `passphrase` or `token`.
    public var rule: WireEnum<AudienceAccess.Rule>
    /// The regions from which the program may be watched, such as `DE` or `US-CA`; empty for all.
    public var allowRegions: [String]
    /// The regions from which it may not be watched.
    public var denyRegions: [String]
    /// The networks from which it may be watched, such as `10.0.0.0/8`; empty for all.
    public var allowNetworks: [String]
    /// The networks from which it may not be watched.
    public var denyNetworks: [String]

    /// Makes a description.
    public init(
        rule: WireEnum<AudienceAccess.Rule>,
        allowRegions: [String] = [],
        denyRegions: [String] = [],
        allowNetworks: [String] = [],
        denyNetworks: [String] = []
    ) {
        self.rule = rule
        self.allowRegions = allowRegions
        self.denyRegions = denyRegions
        self.allowNetworks = allowNetworks
        self.denyNetworks = denyNetworks
    }

    private enum CodingKeys: String, CodingKey {
        case rule
        case allowRegions = "allow_regions"
        case denyRegions = "deny_regions"
        case allowNetworks = "allow_networks"
        case denyNetworks = "deny_networks"
    }
}

/// The body of `PUT /v1/rooms/{room}/access`, and `access` in that of `POST /v1/rooms`; omitted fields stay unchanged.
public struct AccessBody: Codable, Sendable, Hashable {
    /// What a viewer must present: nothing (`public`), the passphrase, or a ticket or access token (`token`).
    public var rule: WireEnum<AudienceAccess.Rule>?
    /// The passphrase, 6 to 128 bytes; needed with the rule `passphrase`, and never part of an answer.
    public var passphrase: String?
    /// The regions from which the program may be watched, such as `DE` or `US-CA`; empty for all.
    public var allowRegions: [String]?
    /// The regions from which it may not be watched.
    public var denyRegions: [String]?
    /// The networks from which it may be watched, such as `10.0.0.0/8`; empty for all.
    public var allowNetworks: [String]?
    /// The networks from which it may not be watched.
    public var denyNetworks: [String]?

    /// Makes a body; what is left out is nil.
    public init(
        rule: WireEnum<AudienceAccess.Rule>? = nil,
        passphrase: String? = nil,
        allowRegions: [String]? = nil,
        denyRegions: [String]? = nil,
        allowNetworks: [String]? = nil,
        denyNetworks: [String]? = nil
    ) {
        self.rule = rule
        self.passphrase = passphrase
        self.allowRegions = allowRegions
        self.denyRegions = denyRegions
        self.allowNetworks = allowNetworks
        self.denyNetworks = denyNetworks
    }

    private enum CodingKeys: String, CodingKey {
        case rule
        case passphrase
        case allowRegions = "allow_regions"
        case denyRegions = "deny_regions"
        case allowNetworks = "allow_networks"
        case denyNetworks = "deny_networks"
    }
}

/// The body of `POST /v1/rooms/{room}/admission`: what a viewer presents.
public struct AdmissionBody: Codable, Sendable, Hashable {
    /// The text of a ticket, as its link has it.
    public var ticket: String?
    /// The room's passphrase.
    public var passphrase: String?
    /// The session id of an earlier admission, which stays in use if it still admits.
    public var sid: String?
    /// Whether to take the place of the device that watches longest with the same ticket, if there is no other.
    public var takeOver: Bool?

    /// Makes a body; what is left out is nil.
    public init(ticket: String? = nil, passphrase: String? = nil, sid: String? = nil, takeOver: Bool? = nil) {
        self.ticket = ticket
        self.passphrase = passphrase
        self.sid = sid
        self.takeOver = takeOver
    }

    private enum CodingKeys: String, CodingKey {
        case ticket
        case passphrase
        case sid
        case takeOver = "take_over"
    }
}

/// An admitted viewer.
public struct AdmissionResource: Codable, Sendable, Hashable {
    /// The viewer's session id, the `sid` of all playback URLs.
    public var sid: String
    /// The playback URLs with the session id.
    public var playback: PlaybackResource

    /// Makes an answer.
    public init(sid: String, playback: PlaybackResource) {
        self.sid = sid
        self.playback = playback
    }
}
