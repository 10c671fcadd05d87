public import NIOCore

/// What one RTMP server grants to its peers before it says no: times, sizes and counts.
///
/// Every number bounds something a stranger decides. Memory is always given out by bytes received, never by a length
/// that was only announced. What one connection may have kept for it at a time:
///
/// - the handshake, and all else before a stream is published or played: `preAuthBytes`;
/// - chunk streams: `chunkStreams` headers, of which `partialMessages` have an unfinished message, `partialBytes` in all;
/// - a player: `playingBytes`, as it may send no more in a minute;
/// - a publisher: `partialBytes`, one whole message of `mediaMessageBytes` whose inner messages are being handled, and what
///   one read from the socket gave;
/// - AMF0: what `amfDepth`, `amfNodes` and `amfStringBytes` let one message of `commandMessageBytes` hold, until it is
///   handled;
/// - answers: `highWaterMark` unread, and `turnAnswerBytes` beyond; while so much waits, nothing more is read or handled.
public struct RTMPLimits: Sendable {
    // MARK: Before a stream is published or played

    /// From the accepted connection to the end of the handshake (TLS included).
    public var handshakeTimeout: TimeAmount = .seconds(5)
    /// From the accepted connection to an accepted publish or play.
    public var preAuthTimeout: TimeAmount = .seconds(10)
    /// Bytes a peer may send before a publish or play was accepted, within a minute if it takes so long.
    public var preAuthBytes = 64 * 1024
    /// Connections of one client that have not yet published or played; nil for any number.
    public var preAuthConnectionsPerClient: Int? = 20
    /// Connections of all clients that have not yet published or played.
    public var preAuthConnections = 500
    /// Of the places for those, one in this many is for clients that published within the last hour.
    public static let publishersShare = 5
    /// Viewers of one client, a `PeerAddress.account`, that play at a time; nil for any number.
    public var playersPerClient: Int? = 64
    /// Whether an address is that of a proxy that stands for many clients, so that it has no limits of a client.
    public var isProxy: @Sendable (_ address: String) -> Bool = { _ in false }
    /// Connections in all.
    public var connections = 20_000

    // MARK: While a stream is played

    /// Bytes a player may send in a minute, those before it played included: acknowledgements, answers to pings, and
    /// commands such as `pause` are a few hundred.
    public var playingBytes = 64 * 1024

    // MARK: Chunks and messages

    /// The smallest chunk size a peer may choose; smaller ones cost more time than they carry media.
    public var smallestChunkSize = 128
    /// Bytes of an audio, video or aggregate message of a publisher.
    public var mediaMessageBytes = 4 * 1024 * 1024
    /// Bytes of any other message, and of any message of a peer that does not publish.
    public var commandMessageBytes = 64 * 1024
    /// Chunk streams that may carry an unfinished message at the same time.
    public var partialMessages = 8
    /// Bytes of all unfinished messages of a connection together.
    public var partialBytes = 8 * 1024 * 1024
    /// Chunk streams a connection may use at all.
    public var chunkStreams = 64

    // MARK: Turns of the event loop

    /// Messages of one peer that are handled before the event loop's other peers have their turn.
    public var turnMessages = 50
    /// Bytes of messages that are no media after which a turn is over.
    public var turnCommandBytes = 16 * 1024
    /// Bytes of answers after which a turn is over.
    public var turnAnswerBytes = 64 * 1024

    // MARK: AMF0

    /// Objects and arrays inside each other.
    public var amfDepth = 32
    /// Values in one message.
    public var amfNodes = 1024
    /// Bytes of one string.
    public var amfStringBytes = 4096
    /// Characters of one part of an application or stream name.
    public var nameLength = 128

    // MARK: Keeping up

    /// Bytes after which the peer is asked to acknowledge, and the window assumed until it names its own.
    public var acknowledgementWindow: UInt32 = 2_500_000
    /// From one ping to the next; of a viewer that takes media, the silence after which it is asked.
    public var pingInterval: TimeAmount = .seconds(30)
    /// From a ping to the last moment for any byte in return.
    public var pingTimeout: TimeAmount = .seconds(30)
    /// From one ping to the next of a viewer that takes nothing, as of a program that stands still; three may stay
    /// unanswered.
    public var viewerPingInterval: TimeAmount = .seconds(5)
    /// Bytes waiting to be sent to a peer from which on it counts as one that takes nothing.
    public var highWaterMark = MediaWriter.highWaterMark
    /// How long a refused peer may take to read why.
    public var lingerTimeout: TimeAmount = .seconds(2)

    /// The defaults.
    public init() {}
}
