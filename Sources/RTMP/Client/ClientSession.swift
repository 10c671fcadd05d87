import NIOCore

/// What every client of ours does on one RTMP connection, without I/O: the handshake, `connect`, `createStream`, pings
/// and acknowledgements.
///
/// What to do with the stream, and what its messages mean, is for `PlaySession` and `PublishSession` to say.
struct ClientSession {
    /// What the owner has to act on.
    enum Event {
        /// The server took `connect`; what has to be said before the stream is made may be said now.
        case connected
        /// The server made a message stream of that number.
        case created(UInt32)
        /// Sound, pictures or data.
        case media(RTMPMessage)
        /// The server says how the stream stands.
        case status(RTMPStatus)
        /// The server refuses the call of that number.
        case refused(transaction: Double, RTMPStatus)
    }

    private enum Phase {
        case handshake
        case connecting
        case connected
        case creating
        case created
        case ended
    }

    static let connectTransaction = 1.0
    static let createTransaction = 2.0

    /// What goes to the server.
    var writer = MessageWriter()
    private var phase = Phase.handshake
    private var handshake = ClientHandshake()
    private var handshakeInput = ByteBuffer()
    private var reader: MessageReader
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let address: RTMPAddress
    /// Properties of `connect` beside those that every client sends.
    private let properties: [AMF0Object.Entry]

    /// Writes what opens the connection.
    init(address: RTMPAddress, limits: RTMPLimits, properties: [AMF0Object.Entry]) {
        self.address = address
        granted = GrantedLimits(limits)
        self.properties = properties
        reader = MessageReader(granted, acceptsMedia: true, isPaced: false)
        writer.withRawOutput { (output: inout ByteBuffer) in
            ClientHandshake.start(output: &output)
        }
    }

    /// Takes bytes from the server.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPViolation) {
        guard phase != .ended else { return }
        reader.count(bytes.readableBytes)
        if phase == .handshake {
            try shakeHands(bytes)
        } else {
            reader.append(bytes)
        }
        if phase != .handshake { reader.acknowledge(by: &writer) }
    }

    private mutating func shakeHands(_ bytes: ByteBuffer) throws(RTMPViolation) {
        handshakeInput.writeImmutableBuffer(bytes)
        try writer.withRawOutput { (output: inout ByteBuffer) throws(RTMPViolation) in
            try handshake.advance(input: &handshakeInput, output: &output)
        }
        guard handshake.state == .done else { return }
        reader.append(handshakeInput)
        handshakeInput = ByteBuffer()
        phase = .connecting
        writer.setChunkSize(ViewerChunks.chunkSize)
        var object: AMF0Object = ["app": .string(address.app), "tcUrl": .string(address.tcURL)]
        object.entries += properties
        writer.command("connect", transaction: Self.connectTransaction, .object(object))
    }

    /// Asks for a message stream, once `connected` was told.
    mutating func createStream() {
        guard phase == .connected else { return }
        phase = .creating
        writer.command("createStream", transaction: Self.createTransaction, .null)
    }

    /// Nothing more is taken from the server.
    mutating func end() {
        phase = .ended
    }

    /// The next event; nil when more bytes are needed.
    mutating func next() throws(RTMPViolation) -> Event? {
        while phase != .handshake, phase != .ended {
            guard let message = try reader.next(answers: &writer) else { return nil }
            if let event = try handle(message) { return event }
        }
        return nil
    }

    private mutating func handle(_ message: RTMPMessage) throws(RTMPViolation) -> Event? {
        switch message.type {
        case MessageType.audio, MessageType.video, MessageType.data, MessageType.dataAMF3:
            return .media(message)
        case MessageType.command, MessageType.commandAMF3:
            return handle(try Command(message, limits: limits))
        default:
            break
        }
        return nil
    }

    private mutating func handle(_ command: Command) -> Event? {
        switch command.name {
        case "_result" where command.transaction == Self.connectTransaction && phase == .connecting:
            phase = .connected
            writer.windowAcknowledgementSize(limits.acknowledgementWindow)
            return .connected
        case "_result" where command.transaction == Self.createTransaction && phase == .creating:
            phase = .created
            return .created(command.argument(0)?.number.flatMap { UInt32(exactly: $0) } ?? 1)
        case "_error":
            return .refused(transaction: command.transaction, Self.status(command))
        case "onStatus":
            return .status(Self.status(command))
        default:
            return nil
        }
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
