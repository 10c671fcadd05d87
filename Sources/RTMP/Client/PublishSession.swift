import Media
import NIOCore

/// The publisher's side of one RTMP connection, without I/O: packets and bytes in, bytes out.
struct PublishSession {
    /// What the driver has to act on.
    enum Event {
        /// The server agreed; media may be written.
        case started
        /// The server refused, or wants no more.
        case ended(RTMPStatus)
    }

    private enum Phase {
        case starting
        case publishing
        case ended
    }

    private var session: ClientSession
    private var phase = Phase.starting
    private var streamID: UInt32?
    private let address: RTMPAddress

    /// Numbers of the calls that announce a stream; what is answered to them changes nothing.
    private static let releaseTransaction = 3.0
    private static let announceTransaction = 4.0
    private static let publishTransaction = 5.0
    private static let farewellTransaction = 6.0

    /// Writes what opens the connection.
    init(address: RTMPAddress, limits: RTMPLimits = RTMPLimits()) {
        self.address = address
        session = ClientSession(
            address: address,
            limits: limits,
            properties: [
                .init(key: "type", value: "nonprivate"),
                .init(key: "flashVer", value: "FMLE/3.0 (compatible; Footlight)"),
            ]
        )
    }

    /// Whether media may be written.
    var isPublishing: Bool { phase == .publishing }

    /// Takes bytes from the server.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPViolation) {
        try session.receive(bytes)
    }

    /// What is to be written to the server; nil when there is nothing.
    mutating func takeOutput() -> ByteBuffer? {
        session.writer.take()
    }

    /// The next event; nil when more bytes are needed.
    mutating func next() throws(RTMPViolation) -> Event? {
        while let event = try session.next() {
            switch event {
            case .connected:
                announce()
            case .created(let streamID):
                self.streamID = streamID
                session.writer.command(
                    "publish",
                    transaction: Self.publishTransaction,
                    .null,
                    .string(address.name),
                    "live",
                    streamID: streamID
                )
            case .media:
                // Nothing is played on this connection.
                break
            case .status(let status):
                if let event = handle(status) { return event }
            case .refused(let transaction, let status):
                guard transaction == Self.releaseTransaction || transaction == Self.announceTransaction else {
                    return end(status)
                }
            }
        }
        return nil
    }

    /// Says which stream is about to come: some servers free the name of a former connection by it.
    private mutating func announce() {
        let name = AMF0Value.string(address.name)
        session.writer.command("releaseStream", transaction: Self.releaseTransaction, .null, name)
        session.writer.command("FCPublish", transaction: Self.announceTransaction, .null, name)
        session.createStream()
    }

    private mutating func handle(_ status: RTMPStatus) -> Event? {
        if status.isError { return end(status) }
        switch status.code {
        case RTMPStatus.publishStart.code where phase == .starting && streamID != nil:
            phase = .publishing
            return .started
        case RTMPStatus.unpublishSuccess.code, RTMPStatus.reconnectRequest("").code:
            return end(status)
        default:
            return nil
        }
    }

    /// Appends a packet; before the server agreed, and after the end, it is left out.
    ///
    /// The timestamp is written modulo 2^32.
    mutating func write(_ packet: MediaPacket) {
        guard phase == .publishing, let streamID else { return }
        session.writer.media(packet, streamID: streamID)
    }

    /// Says that the stream is over; nothing more is taken or written.
    mutating func finish() {
        if phase == .publishing, let streamID {
            let name = AMF0Value.string(address.name)
            session.writer.command("FCUnpublish", transaction: Self.farewellTransaction, .null, name)
            session.writer.command("deleteStream", transaction: 0, .null, .number(Double(streamID)))
        }
        phase = .ended
        session.end()
    }

    private mutating func end(_ status: RTMPStatus) -> Event {
        phase = .ended
        session.end()
        return .ended(status)
    }
}
