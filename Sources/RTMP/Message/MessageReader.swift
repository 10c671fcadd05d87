import NIOCore

/// Reads a peer's messages and handles the protocol control messages itself.
///
/// A paced reader pauses after one turn's worth of messages, so that no peer monopolizes an event loop, and continues
/// after `resume`.
struct MessageReader {
    /// Whether the turn's limit is reached; more messages may be available.
    private(set) var isPaused = false
    private var turnMessages = 0
    private var turnCommandBytes = 0
    private let isPaced: Bool
    private var decoder: ChunkDecoder
    private var aggregate: AggregateReader?
    private var received: UInt64 = 0
    private var acknowledged: UInt64 = 0
    private var window: UInt32
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }

    /// - Parameters:
    ///   - granted: The limits of the peer.
    ///   - acceptsMedia: Whether media is expected; see `setAcceptsMedia`.
    ///   - isPaced: Whether the reader pauses after each turn.
    init(_ granted: GrantedLimits, acceptsMedia: Bool, isPaced: Bool) {
        self.granted = granted
        self.isPaced = isPaced
        decoder = ChunkDecoder(granted, acceptsMedia: acceptsMedia)
        window = granted.limits.acknowledgementWindow
    }

    /// Sets whether media is expected; otherwise aggregates and messages larger than a command are rejected.
    mutating func setAcceptsMedia(_ acceptsMedia: Bool) {
        decoder.acceptsMedia = acceptsMedia
    }

    /// Begins another turn.
    mutating func resume() {
        isPaused = false
        turnMessages = 0
        turnCommandBytes = 0
    }

    /// Appends bytes that follow the handshake.
    mutating func append(_ bytes: ByteBuffer) {
        decoder.append(bytes)
    }

    /// Counts received bytes, including those of the handshake.
    mutating func count(_ bytes: Int) {
        received &+= UInt64(bytes)
    }

    /// Writes an Acknowledgement if half the window was received; valid after the handshake.
    mutating func acknowledge(by writer: inout MessageWriter) {
        guard received - acknowledged >= UInt64(max(window / 2, 4096)) else { return }
        acknowledged = received
        writer.acknowledgement(UInt32(truncatingIfNeeded: received))
    }

    /// Returns the next message for the session, including those inside aggregates; nil if more bytes are needed or the
    /// reader is paused.
    mutating func next(answers writer: inout MessageWriter) throws(RTMPViolation) -> RTMPMessage? {
        while true {
            isPaused = isPaced && isTurnOver(answerBytes: writer.output.readableBytes)
            guard !isPaused else { return nil }
            guard let message = try nextMessage() else {
                resume()
                return nil
            }
            turnMessages += 1
            if !MessageType.isAllowedInAggregate(message.type) { turnCommandBytes += message.payload.readableBytes }
            switch message.type {
            case MessageType.setChunkSize:
                if let size = message.payload.number { try decoder.setChunkSize(size) }
            case MessageType.abort:
                if let id = message.payload.number { decoder.abort(chunkStream: Int(id)) }
            case MessageType.windowAcknowledgementSize:
                if let size = message.payload.number, size > 0 {
                    window = min(size, limits.acknowledgementWindow)
                }
            case MessageType.userControl:
                Self.answerPing(message.payload, by: &writer)
            case MessageType.aggregate:
                guard decoder.acceptsMedia else {
                    throw RTMPViolation("an aggregate from a peer that does not publish")
                }
                aggregate = AggregateReader(message)
            default:
                return message
            }
        }
    }

    private func isTurnOver(answerBytes: Int) -> Bool {
        turnMessages >= limits.turnMessages || turnCommandBytes >= limits.turnCommandBytes
            || answerBytes >= limits.turnResponseBytes
    }

    private mutating func nextMessage() throws(RTMPViolation) -> RTMPMessage? {
        if let inner = try aggregate?.next() { return inner }
        aggregate = nil
        return try decoder.next()
    }

    private static func answerPing(_ payload: ByteBuffer, by writer: inout MessageWriter) {
        var payload = payload
        guard payload.readInteger(as: UInt16.self) == MessageWriter.ControlEvent.pingRequest.rawValue,
            let time = payload.readInteger(as: UInt32.self)
        else { return }
        writer.event(.pingResponse, time)
    }

    /// Discards the rest of an aggregate.
    mutating func dropAggregate() {
        aggregate = nil
    }

    /// Releases buffer capacity that is only needed while media is received.
    mutating func compact() {
        decoder.compact()
    }
}

/// Splits an aggregate message (type 22), a sequence of FLV tags with back pointers, into its messages.
struct AggregateReader {
    private var rest: ByteBuffer
    private let base: UInt32
    private let streamID: UInt32
    private var firstTime: UInt32?

    init(_ message: RTMPMessage) {
        rest = message.payload
        base = message.timestamp
        streamID = message.streamID
    }

    /// Returns the next message, or nil at the end or if the rest is not a tag.
    ///
    /// The first message has the aggregate's timestamp, and the others keep their offsets to it. A message that is the
    /// smaller part of the aggregate is copied, so that it does not retain the aggregate.
    ///
    /// - Throws: A violation for a message that is neither audio, video nor data.
    mutating func next() throws(RTMPViolation) -> RTMPMessage? {
        guard let type = rest.readInteger(as: UInt8.self), let length = rest.readInteger24(),
            let low = rest.readInteger24(), let high = rest.readInteger(as: UInt8.self), rest.readInteger24() != nil,
            let payload = rest.readSlice(length: length)
        else { return nil }
        guard MessageType.isAllowedInAggregate(type) else {
            throw RTMPViolation("a message of type \(type) in an aggregate")
        }
        // Some encoders omit the last back pointer.
        rest.moveReaderIndex(forwardBy: min(4, rest.readableBytes))
        let time = UInt32(high) << 24 | UInt32(low)
        let first = firstTime ?? time
        firstTime = first
        return RTMPMessage(
            type: type,
            streamID: streamID,
            timestamp: base &+ (time &- first),
            payload: length * 2 < payload.storageCapacity ? ByteBuffer(bytes: payload.readableBytesView) : payload
        )
    }
}
