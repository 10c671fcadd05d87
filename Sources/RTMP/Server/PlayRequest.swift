/// A peer that wants to play.
public struct PlayRequest: Sendable, Equatable {
    /// The application path, without slashes at its ends and without a query; often `live`.
    public var app: String
    /// The stream name; without a query.
    public var name: String
    /// The parameters of the address, the application and the name together; the name's come first.
    public var query: [String: String]
    /// The peer's address without its port.
    public var remoteAddress: String?
    /// What the peer said about enhanced RTMP.
    public var capabilities: EnhancedCapabilities
    /// The whole address as the peer wrote it.
    public var tcURL: String?
    /// What the peer calls itself, `flashVer`: `LNX 9,0,124,2` of ffmpeg.
    public var clientName: String?

    /// A request as it would be read from a peer's commands.
    public init(
        app: String,
        name: String,
        query: [String: String] = [:],
        remoteAddress: String? = nil,
        capabilities: EnhancedCapabilities = EnhancedCapabilities(),
        tcURL: String? = nil,
        clientName: String? = nil
    ) {
        self.app = app
        self.name = name
        self.query = query
        self.remoteAddress = remoteAddress
        self.capabilities = capabilities
        self.tcURL = tcURL
        self.clientName = clientName
    }
}
