import Media
import NIOCore

/// The publisher side of an RTMP connection, without I/O.
struct PublishSession {
    /// An event for the driver.
    enum Event {
        /// The server accepted `publish`; media may be written.
        case started
        /// The server refused or ended the stream.
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

    // Transaction numbers; results of `releaseStream` and `FCPublish` are ignored.
    private static let releaseTransaction = 3.0
    private static let announceTransaction = 4.0
    private static let publishTransaction = 5.0
    private static let unpublishTransaction = 6.0

    /// Creates a session and writes the first part of the handshake.
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

    /// Processes bytes received from the server.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPViolation) {
        try session.receive(bytes)
    }

    /// Returns and clears the pending output, or nil if there is none.
    mutating func drainOutput() -> ByteBuffer? {
        session.writer.drain()
    }

    /// Returns the next event, or nil if more bytes are needed.
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
                // A publishing connection ignores incoming media.
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

    /// Announces the stream name; some servers release it from a previous connection.
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

    /// Appends a packet; before the server's consent and after the end it is discarded.
    ///
    /// The timestamp is written modulo 2^32.
    mutating func write(_ packet: MediaPacket) {
        guard phase == .publishing, let streamID else { return }
        session.writer.media(packet, streamID: streamID)
    }

    /// Ends the stream with `FCUnpublish` and `deleteStream` and ignores all further input.
    mutating func finish() {
        if phase == .publishing, let streamID {
            let name = AMF0Value.string(address.name)
            session.writer.command("FCUnpublish", transaction: Self.unpublishTransaction, .null, name)
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
