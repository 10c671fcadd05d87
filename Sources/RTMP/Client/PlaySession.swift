import Media
import NIOCore

/// The player's side of one RTMP connection, without I/O: bytes in, packets and bytes out.
struct PlaySession {
    /// What the driver has to act on.
    enum Event {
        /// The server agreed; media follows.
        case started
        case packet(MediaPacket)
        /// The server refused, or the stream is over.
        case ended(RTMPStatus)
    }

    private enum Phase {
        case handshake
        case connecting
        case creating
        case starting
        case playing
        case ended
    }

    private var phase = Phase.handshake
    private var handshake = ClientHandshake()
    private var handshakeInput = ByteBuffer()
    private var decoder: ChunkDecoder
    private var aggregate: AggregateReader?
    private var writer = MessageWriter()
    private var clock = TimestampUnwrapper()
    private var received: UInt64 = 0
    private var acknowledged: UInt64 = 0
    private var window: UInt32
    private let limits: RTMPLimits
    private let address: RTMPAddress

    private static let connectTransaction = 1.0
    private static let createTransaction = 2.0

    /// Writes what opens the connection.
    init(address: RTMPAddress, limits: RTMPLimits = RTMPLimits()) {
        self.address = address
        self.limits = limits
        decoder = ChunkDecoder(limits: limits)
        window = limits.acknowledgementWindow
        var random = SystemRandomNumberGenerator()
        writer.withRawOutput { (output: inout ByteBuffer) in
            ClientHandshake.start(output: &output, random: &random)
        }
    }

    /// Takes bytes from the server.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPViolation) {
        guard phase != .ended else { return }
        received &+= UInt64(bytes.readableBytes)
        if phase == .handshake {
            try shakeHands(bytes)
        } else {
            decoder.append(bytes)
        }
        if received - acknowledged >= UInt64(max(window / 2, 4096)), phase != .handshake {
            acknowledged = received
            writer.acknowledgement(UInt32(truncatingIfNeeded: received))
        }
    }

    private mutating func shakeHands(_ bytes: ByteBuffer) throws(RTMPViolation) {
        handshakeInput.writeImmutableBuffer(bytes)
        try writer.withRawOutput { (output: inout ByteBuffer) throws(RTMPViolation) in
            try handshake.advance(input: &handshakeInput, output: &output)
        }
        guard handshake.state == .done else { return }
        decoder.append(handshakeInput)
        handshakeInput = ByteBuffer()
        phase = .connecting
        writer.setChunkSize(ViewerChunks.chunkSize)
        writer.command(
            "connect",
            transaction: Self.connectTransaction,
            .object([
                "app": .string(address.app),
                "flashVer": "LNX 9,0,124,2",
                "tcUrl": .string(address.tcURL),
                "fpad": .boolean(false),
                "capabilities": 15,
                "audioCodecs": 4071,
                "videoCodecs": 252,
                "videoFunction": 1,
                "fourCcList": .list(["*"]),
            ])
        )
    }

    /// What is to be written to the server; nil when there is nothing.
    mutating func takeOutput() -> ByteBuffer? {
        writer.take()
    }

    /// The next event; nil when more bytes are needed.
    mutating func next() throws(RTMPViolation) -> Event? {
        while phase != .handshake, phase != .ended {
            if let inner = aggregate?.next() {
                if phase == .playing, let packet = clock.packet(inner) { return .packet(packet) }
                continue
            }
            aggregate = nil
            guard let message = try decoder.next() else { return nil }
            if let event = try handle(message) { return event }
        }
        return nil
    }

    private mutating func handle(_ message: RTMPMessage) throws(RTMPViolation) -> Event? {
        switch message.type {
        case MessageType.setChunkSize:
            if let size = message.payload.number { try decoder.setChunkSize(size) }
        case MessageType.abort:
            if let id = message.payload.number { decoder.abort(chunkStream: Int(id)) }
        case MessageType.windowAcknowledgementSize:
            if let size = message.payload.number, size > 0 { window = min(size, limits.acknowledgementWindow) }
        case MessageType.userControl:
            answerPing(message.payload)
        case MessageType.audio, MessageType.video, MessageType.data, MessageType.dataAMF3:
            guard phase == .playing, let packet = clock.packet(message) else { return nil }
            return .packet(packet)
        case MessageType.aggregate:
            aggregate = AggregateReader(message)
        case MessageType.command, MessageType.commandAMF3:
            return handle(try Command(message, limits: limits))
        default:
            break
        }
        return nil
    }

    private mutating func answerPing(_ payload: ByteBuffer) {
        var payload = payload
        guard payload.readInteger(as: UInt16.self) == MessageWriter.ControlEvent.pingRequest.rawValue,
            let time = payload.readInteger(as: UInt32.self)
        else { return }
        writer.event(.pingResponse, time)
    }

    private mutating func handle(_ command: Command) -> Event? {
        switch command.name {
        case "_result" where command.transaction == Self.connectTransaction && phase == .connecting:
            phase = .creating
            writer.windowAcknowledgementSize(limits.acknowledgementWindow)
            writer.command("createStream", transaction: Self.createTransaction, .null)
        case "_result" where command.transaction == Self.createTransaction && phase == .creating:
            phase = .starting
            let id = command.argument(0)?.number ?? 1
            let streamID = UInt32(exactly: id) ?? 1
            writer.command("play", transaction: 0, .null, .string(address.name), streamID: streamID)
            writer.event(.setBufferLength, streamID, 1000)
        case "_error":
            return end(Self.status(command))
        case "onStatus":
            return handle(Self.status(command))
        default:
            break
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
        return .ended(status)
    }

    private static func status(_ command: Command) -> RTMPStatus {
        let object = command.argument(0)?.object ?? command.object
        return RTMPStatus(
            level: object?["level"]?.string ?? "error",
            code: object?["code"]?.string ?? command.name,
            description: object?["description"]?.string ?? ""
        )
    }
}
