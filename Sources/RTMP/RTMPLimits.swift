public import NIOCore

/// The timeouts, sizes and counts that an RTMP server grants to a peer.
///
/// Every value limits untrusted input. Memory is allocated for received bytes, never for an announced length. The
/// buffered data of one connection is limited as follows:
///
/// - before a stream is published or played, including the handshake: `preAuthBytes`;
/// - chunk streams: `chunkStreams` headers, of which `partialMessages` have an unfinished message, `partialBytes` in
///   total;
/// - a player: `playingBytes` per minute;
/// - a publisher: `partialBytes`, one complete message of `mediaMessageBytes` whose inner messages are being processed,
///   and one socket read;
/// - AMF0: the values that `amfDepth`, `amfNodes` and `amfStringBytes` allow in one message of `commandMessageBytes`;
/// - responses: `highWaterMark` unread bytes plus `turnResponseBytes`; beyond, reading and processing are suspended.
public struct RTMPLimits: Sendable {
    // MARK: Before publish or play

    /// The time from the accepted connection to the end of the handshake, including TLS.
    public var handshakeTimeout: TimeAmount = .seconds(5)
    /// The time from the accepted connection to an accepted publish or play.
    public var preAuthTimeout: TimeAmount = .seconds(10)
    /// The bytes a peer may send per minute before a publish or play is accepted.
    public var preAuthBytes = 64 * 1024
    /// The connections of one client that have neither published nor played; nil for no limit.
    public var preAuthConnectionsPerClient: Int? = 20
    /// The connections of all clients that have neither published nor played.
    public var preAuthConnections = 500
    /// The divisor that gives the share of waiting slots reserved for clients that published within the last hour.
    public static let publishersShare = 5
    /// The concurrent viewers of one client (see `PeerAddress.account`); nil for no limit.
    public var playersPerClient: Int? = 64
    /// Returns whether an address belongs to a proxy of many clients, which has no client limits.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// The total number of connections.
    public var connections = 20_000

    // MARK: During playback

    /// The bytes a player may send per minute, including those before playback; acknowledgements, pings and commands
    /// such as `pause` take a few hundred.
    public var playingBytes = 64 * 1024

    // MARK: Chunks and messages

    /// The smallest accepted chunk size; smaller ones cost disproportionate processing time.
    public var smallestChunkSize = 128
    /// The maximum bytes of a publisher's audio, video or aggregate message.
    public var mediaMessageBytes = 4 * 1024 * 1024
    /// The maximum bytes of any other message, and of any message of a peer that does not publish.
    public var commandMessageBytes = 64 * 1024
    /// The maximum number of chunk streams with an unfinished message.
    public var partialMessages = 8
    /// The maximum bytes of all unfinished messages of a connection.
    public var partialBytes = 8 * 1024 * 1024
    /// The maximum number of chunk streams of a connection.
    public var chunkStreams = 64

    // MARK: Turns of the event loop

    /// The messages of one peer processed per turn.
    public var turnMessages = 50
    /// The bytes of non-media messages processed per turn.
    public var turnCommandBytes = 16 * 1024
    /// The bytes of responses written per turn.
    public var turnResponseBytes = 64 * 1024

    // MARK: AMF0

    /// The maximum nesting depth.
    public var amfDepth = 32
    /// The maximum number of values in one message.
    public var amfNodes = 1024
    /// The maximum bytes of one string.
    public var amfStringBytes = 4096
    /// The maximum characters of one component of an application or stream name.
    public var nameLength = 128

    // MARK: Flow control and liveness

    /// The acknowledgement window in bytes, announced to the peer and assumed for it by default.
    public var acknowledgementWindow: UInt32 = 2_500_000
    /// The ping interval; for a viewer that receives media, the silence after which it is pinged.
    public var pingInterval: TimeAmount = .seconds(30)
    /// The time from a ping to the deadline for any byte from the peer.
    public var pingTimeout: TimeAmount = .seconds(30)
    /// The ping interval of a viewer whose sent bytes do not increase; three pings may remain unanswered.
    public var viewerPingInterval: TimeAmount = .seconds(5)
    /// The number of pending output bytes above which a peer counts as not writable.
    public var highWaterMark = MediaWriter.highWaterMark
    /// The time a rejected peer has to read the status.
    public var lingerTimeout: TimeAmount = .seconds(2)

    /// Creates the default limits.
    public init() {}
}

/// The limits of one server, shared by all connections to keep the memory of an idle connection small.
final class GrantedLimits: Sendable {
    let limits: RTMPLimits

    init(_ limits: RTMPLimits) {
        self.limits = limits
    }
}

/// A protocol violation or exceeded limit, after which the connection must be closed.
public struct RTMPViolation: Error, Sendable, Equatable {
    /// A description for the log.
    public var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
