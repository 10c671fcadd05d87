import Media
import NIOCore

/// The player side of an RTMP connection, without I/O.
struct PlaySession {
    /// An event for the driver.
    enum Event {
        /// The server accepted `play`; media follows.
        case started
        case packet(MediaPacket)
        /// The server refused, or the stream ended.
        case ended(RTMPStatus)
    }

    private enum Phase {
        case starting
        case playing
        case ended
    }

    private var session: ClientSession
    private var phase = Phase.starting
    private var clock = TimestampUnwrapper()
    private let address: RTMPAddress

    /// Creates a session and writes the first part of the handshake.
    init(address: RTMPAddress, limits: RTMPLimits = RTMPLimits()) {
        self.address = address
        session = ClientSession(
            address: address,
            limits: limits,
            properties: [
                .init(key: "flashVer", value: "LNX 9,0,124,2"),
                .init(key: "fpad", value: .boolean(false)),
                .init(key: "capabilities", value: 15),
                .init(key: "audioCodecs", value: 4071),
                .init(key: "videoCodecs", value: 252),
                .init(key: "videoFunction", value: 1),
                .init(key: "fourCcList", value: .list(["*"])),
            ]
        )
    }

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
                session.createStream()
            case .created(let streamID):
                session.writer.command("play", transaction: 0, .null, .string(address.name), streamID: streamID)
                session.writer.event(.setBufferLength, streamID, 1000)
            case .media(let message):
                if phase == .playing, let packet = clock.packet(message) { return .packet(packet) }
            case .status(let status):
                if let event = handle(status) { return event }
            case .refused(_, let status):
                return end(status)
            }
        }
        return nil
    }

    private mutating func handle(_ status: RTMPStatus) -> Event? {
        if status.isError { return end(status) }
        switch status.code {
        case RTMPStatus.playStart.code where phase == .starting:
            phase = .playing
            return .started
        case RTMPStatus.playUnpublishNotify.code, "NetStream.Play.Stop", "NetStream.Play.Complete":
            return end(status)
        default:
            return nil
        }
    }

    private mutating func end(_ status: RTMPStatus) -> Event {
        phase = .ended
        session.end()
        return .ended(status)
    }
}
