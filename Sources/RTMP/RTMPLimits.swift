public import NIOCore

/// What one RTMP server grants to its peers before it says no: times, sizes and counts.
///
/// Every number bounds something a stranger decides. Memory is always given out by bytes received, never by a length
/// that was only announced.
public struct RTMPLimits: Sendable {
    // MARK: Before a stream is published or played

    /// From the accepted connection to the end of the handshake (TLS included).
    public var handshakeTimeout: TimeAmount = .seconds(5)
    /// From the accepted connection to an accepted publish or play.
    public var preAuthTimeout: TimeAmount = .seconds(10)
    /// Bytes a peer may send before a publish or play was accepted.
    public var preAuthBytes = 64 * 1024
    /// Connections of one address that have not yet published or played.
    public var preAuthConnectionsPerAddress = 20
    /// The same for a loopback address, where our own processes and a local proxy come from.
    public var preAuthConnectionsPerLoopbackAddress = Int.max
    /// Connections of all addresses but loopback ones that have not yet published or played.
    public var preAuthConnections = 500
    /// Connections in all.
    public var connections = 20_000

    // MARK: Chunks and messages

    /// The smallest chunk size a peer may choose; smaller ones cost more time than they carry media.
    public var smallestChunkSize = 128
    /// Bytes of an audio, video or aggregate message.
    public var mediaMessageBytes = 4 * 1024 * 1024
    /// Bytes of a command, data or control message.
    public var commandMessageBytes = 64 * 1024
    /// Chunk streams that may carry an unfinished message at the same time.
    public var partialMessages = 8
    /// Bytes of all unfinished messages of a connection together.
    public var partialBytes = 8 * 1024 * 1024
    /// Chunk streams a connection may use at all.
    public var chunkStreams = 64

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
