import NIOCore

/// The messages of the other side, out of its chunks; what is about the connection itself is obeyed and answered here.
///
/// A paced reader pauses when it has given out one turn's worth of messages, so that no peer keeps an event loop from the
/// others; it goes on after `resume`.
struct MessageReader {
    /// Whether one turn's worth was given out; there may be more.
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
    ///   - granted: What the other side is granted.
    ///   - acceptsMedia: Whether media is expected from it; see `setAcceptsMedia`.
    ///   - isPaced: Whether the reader pauses.
    init(_ granted: GrantedLimits, acceptsMedia: Bool, isPaced: Bool) {
        self.granted = granted
        self.isPaced = isPaced
        decoder = ChunkDecoder(granted, acceptsMedia: acceptsMedia)
        window = granted.limits.acknowledgementWindow
    }

    /// Says whether media is expected from the other side: only then may a message be larger than a command, or be an
    /// aggregate.
    mutating func setAcceptsMedia(_ acceptsMedia: Bool) {
        decoder.acceptsMedia = acceptsMedia
    }

    /// Begins another turn.
    mutating func resume() {
        isPaused = false
        turnMessages = 0
        turnCommandBytes = 0
    }

    /// Takes bytes that lie behind the handshake.
    mutating func append(_ bytes: ByteBuffer) {
        decoder.append(bytes)
    }

    /// Counts bytes that came, those of the handshake too.
    mutating func count(_ bytes: Int) {
        received &+= UInt64(bytes)
    }

    /// Says how many bytes have come, once the other side waits for it; not before the handshake is over.
    mutating func acknowledge(by writer: inout MessageWriter) {
        guard received - acknowledged >= UInt64(max(window / 2, 4096)) else { return }
        acknowledged = received
        writer.acknowledgement(UInt32(truncatingIfNeeded: received))
    }

    /// The next message for the session, those inside of an aggregate one by one; nil when more bytes are needed, or when
    /// it pauses.
    mutating func next(answers writer: inout MessageWriter) throws(RTMPViolation) -> RTMPMessage? {
        while true {
            isPaused = isPaced && isTurnOver(answerBytes: writer.output.readableBytes)
            guard !isPaused else { return nil }
            guard let message = try nextOfAll() else {
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
            || answerBytes >= limits.turnAnswerBytes
    }

    private mutating func nextOfAll() throws(RTMPViolation) -> RTMPMessage? {
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

    /// Leaves out what is left of an aggregate.
    mutating func dropAggregate() {
        aggregate = nil
    }

    /// Gives back memory that is only needed while media comes in.
    mutating func compact() {
        decoder.compact()
    }
}
