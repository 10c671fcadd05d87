public import Media
public import NIOCore

/// Authorizes publishers and players.
public protocol RTMPServerDelegate: Sendable {
    /// Handles a request to publish; called on the connection's event loop.
    ///
    /// - Returns: The verdict, completed on any event loop; a failed future refuses.
    func publish(_ request: PublishRequest, on connection: RTMPConnection) -> EventLoopFuture<PublishVerdict>
    /// Handles a request to play; called on the connection's event loop.
    ///
    /// - Returns: The verdict, completed on any event loop; a failed future refuses.
    func play(_ request: PlayRequest, on connection: RTMPConnection) -> EventLoopFuture<PlayVerdict>
}

/// The result of a publish request.
public enum PublishVerdict: Sendable {
    case accept(any PublishReceiver)
    /// Sends `status` after a delay, which slows down guessing of keys.
    case refuse(RTMPStatus, after: TimeAmount = .zero)
}

/// The result of a play request.
public enum PlayVerdict: Sendable {
    /// Accepts; `sid` is sent to the player in `NetStream.Play.Start` if present.
    case accept(any PlayReceiver, sid: String? = nil)
    case refuse(RTMPStatus)
}

/// Receives a publisher's media.
///
/// All methods are called on the connection's event loop.
public protocol PublishReceiver: AnyObject, Sendable {
    /// Receives one packet.
    ///
    /// Timestamps are unwrapped to 64 bits and otherwise unchanged: they may begin at any value and step back.
    ///
    /// - Throws: A status that is sent to the peer before the connection is closed.
    func receive(_ packet: MediaPacket) throws(RTMPStatus)
    /// The stream ended; called exactly once for an accepted stream, as the last method.
    func ended(_ reason: RTMPEndReason)
}

/// Sends media to a player.
///
/// All methods are called on the connection's event loop.
public protocol PlayReceiver: AnyObject, Sendable {
    /// Playback was accepted; media may be written.
    func started(on connection: RTMPConnection)
    /// The player left; called exactly once for an accepted player, as the last method.
    func ended(_ reason: RTMPEndReason)
    /// The media bytes sent to a viewer so far, used to detect dead viewers; nil for players that are not viewers,
    /// which have a longer timeout.
    var sentBytes: Int? { get }
}

extension PlayReceiver {
    /// The default for players that are not viewers.
    public var sentBytes: Int? { nil }
}

/// A request to publish a stream.
public struct PublishRequest: Sendable, Equatable {
    /// The application path without leading and trailing slashes and without a query; usually `live`.
    public var app: String
    /// The stream name without a query, which is the stream key.
    public var name: String
    /// The query parameters of the URL, the application and the name; those of the name take precedence.
    public var query: [String: String]
    /// `live`, `record` or `append`; `live` by default.
    public var type: String
    /// The peer's address without a port.
    public var remoteAddress: String?
    /// The peer's enhanced RTMP capabilities.
    public var capabilities: EnhancedCapabilities
    /// The URL as sent by the peer.
    public var tcURL: String?

    /// Creates a request with the given values.
    public init(
        app: String,
        name: String,
        query: [String: String] = [:],
        type: String = "live",
        remoteAddress: String? = nil,
        capabilities: EnhancedCapabilities = EnhancedCapabilities(),
        tcURL: String? = nil
    ) {
        self.app = app
        self.name = name
        self.query = query
        self.type = type
        self.remoteAddress = remoteAddress
        self.capabilities = capabilities
        self.tcURL = tcURL
    }
}

/// A request to play a stream.
public struct PlayRequest: Sendable, Equatable {
    /// The application path without leading and trailing slashes and without a query; usually `live`.
    public var app: String
    /// The stream name without a query.
    public var name: String
    /// The query parameters of the URL, the application and the name; those of the name take precedence.
    public var query: [String: String]
    /// The peer's address without a port.
    public var remoteAddress: String?
    /// The peer's enhanced RTMP capabilities.
    public var capabilities: EnhancedCapabilities
    /// The URL as sent by the peer.
    public var tcURL: String?
    /// The client name (`flashVer`), such as `LNX 9,0,124,2` for FFmpeg.
    public var clientName: String?

    /// Creates a request with the given values.
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

/// The reason why a publisher or player stream ended.
public enum RTMPEndReason: Sendable, Equatable {
    /// The peer closed the connection, or it failed.
    case closedByPeer
    /// The peer ended its stream in an orderly way.
    case deletedStream
    /// No data was received in time.
    case timedOut
    /// A newer connection replaced this one.
    case replaced
    /// The peer violated the protocol or a limit.
    case protocolViolation(String)
    /// The server or receiver refused the stream.
    case refused
    /// The server shuts down.
    case shutdown
}
