import NIOCore

/// The messages of the other side, out of its chunks; what is about the connection itself is obeyed and answered here.
struct MessageReader {
    private var decoder: ChunkDecoder
    private var aggregate: AggregateReader?
    private var received: UInt64 = 0
    private var acknowledged: UInt64 = 0
    private var window: UInt32
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }

    init(_ granted: GrantedLimits) {
        self.granted = granted
        decoder = ChunkDecoder(granted)
        window = granted.limits.acknowledgementWindow
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

    /// The next message for the session, those inside of an aggregate one by one; nil when more bytes are needed.
    mutating func next(answers writer: inout MessageWriter) throws(RTMPViolation) -> RTMPMessage? {
        while let message = try nextOfAll() {
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
                // One inside of another is left out.
                if aggregate == nil { aggregate = AggregateReader(message) }
            default:
                return message
            }
        }
        return nil
    }

    private mutating func nextOfAll() throws(RTMPViolation) -> RTMPMessage? {
        if let inner = aggregate?.next() { return inner }
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
