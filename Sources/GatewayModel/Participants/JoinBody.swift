/// The body of `POST /v1/rooms/{room}/participants`.
public struct JoinBody: Codable, Sendable, Hashable {
    /// Who joins, `[A-Za-z0-9_-]{1,64}`; the token's identity when left out.
    public var identity: String?
    /// The name on the tile; the identity when left out.
    public var displayName: String?
    /// `SEND_AND_RECV`, `RECV_ONLY` or `SIGNALLING_ONLY`; the token's mode when left out.
    public var mode: String?
    /// Anything the clients want to know of each other, up to 4 KiB.
    public var metadata: [String: AnyJSON]?
    /// What stands for the participant while there is no picture: `asset:NAME`, or an `http://` or `https://` URL.
    public var avatar: String?
    /// What the client is about to send and play.
    public var callSettings: CallSettingsBody?
    /// What the client would send at most.
    public var connectOptions: ConnectOptionsBody?
    /// The accepted invitation that allows the mode.
    public var invitationSID: String?

    /// Makes a body; what is left out is nil.
    public init(
        identity: String? = nil,
        displayName: String? = nil,
        mode: String? = nil,
        metadata: [String: AnyJSON]? = nil,
        avatar: String? = nil,
        callSettings: CallSettingsBody? = nil,
        connectOptions: ConnectOptionsBody? = nil,
        invitationSID: String? = nil
    ) {
        self.identity = identity
        self.displayName = displayName
        self.mode = mode
        self.metadata = metadata
        self.avatar = avatar
        self.callSettings = callSettings
        self.connectOptions = connectOptions
        self.invitationSID = invitationSID
    }

    private enum CodingKeys: String, CodingKey {
        case identity
        case displayName = "display_name"
        case mode
        case metadata
        case avatar
        case callSettings = "call_settings"
        case connectOptions = "connect_options"
        case invitationSID = "invitation_sid"
    }
}
