import NIOCore

/// The common part of RTMP client connections, without I/O: handshake, `connect`, `createStream`, pings and
/// acknowledgements.
///
/// `PlaySession` and `PublishSession` use the stream and interpret its messages.
struct ClientSession {
    /// An event for the session that owns the connection.
    enum Event {
        /// The server accepted `connect`; commands that precede `createStream` can be sent now.
        case connected
        /// The server created a message stream with this number.
        case created(UInt32)
        /// An audio, video or data message.
        case media(RTMPMessage)
        /// The server sent `onStatus`.
        case status(RTMPStatus)
        /// The server answered the call with this transaction number with `_error`.
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

    /// Buffers the output to the server.
    var writer = MessageWriter()
    private var phase = Phase.handshake
    private var handshake = ClientHandshake()
    private var handshakeInput = ByteBuffer()
    private var reader: MessageReader
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let address: RTMPAddress
    /// Further properties of the `connect` command object.
    private let properties: [AMF0Object.Entry]

    /// Creates a session and writes the first part of the handshake.
    init(address: RTMPAddress, limits: RTMPLimits, properties: [AMF0Object.Entry]) {
        self.address = address
        granted = GrantedLimits(limits)
        self.properties = properties
        reader = MessageReader(granted, acceptsMedia: true, isPaced: false)
        writer.withRawOutput { (output: inout ByteBuffer) in
            ClientHandshake.start(output: &output)
        }
    }

    /// Processes bytes received from the server.
    mutating func receive(_ bytes: ByteBuffer) throws(RTMPViolation) {
        guard phase != .ended else { return }
        reader.count(bytes.readableBytes)
        if phase == .handshake {
            try performHandshake(bytes)
        } else {
            reader.append(bytes)
        }
        if phase != .handshake { reader.acknowledge(by: &writer) }
    }

    private mutating func performHandshake(_ bytes: ByteBuffer) throws(RTMPViolation) {
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

    /// Sends `createStream`; valid after the `connected` event.
    mutating func createStream() {
        guard phase == .connected else { return }
        phase = .creating
        writer.command("createStream", transaction: Self.createTransaction, .null)
    }

    /// Ignores all further input.
    mutating func end() {
        phase = .ended
    }

    /// Returns the next event, or nil if more bytes are needed.
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
            return handle(try RTMPCommand(message, limits: limits))
        default:
            break
        }
        return nil
    }

    private mutating func handle(_ command: RTMPCommand) -> Event? {
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

    private static func status(_ command: RTMPCommand) -> RTMPStatus {
        let object = command.argument(0)?.object ?? command.object
        return RTMPStatus(
            level: object?["level"]?.string ?? "error",
            code: object?["code"]?.string ?? command.name,
            description: object?["description"]?.string ?? ""
        )
    }
}

/// A parsed `rtmp://` or `rtmps://` URL, `rtmp://host:port/app/name?query`; all path components but the last form the
/// application.
struct RTMPAddress: Equatable {
    /// Whether the connection uses TLS (`rtmps`).
    var isSecure: Bool
    var host: String
    /// The port; 1935 by default, 443 with TLS.
    var port: Int
    var app: String
    /// The last path component, including the query.
    var name: String
    /// The URL up to the application.
    var tcURL: String

    init?(_ url: String) {
        let schemes = ["rtmp://", "rtmps://"]
        guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0) }) else { return nil }
        isSecure = scheme == "rtmps://"
        let rest = url.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        guard let (host, port) = Self.authority(rest[..<slash], port: isSecure ? 443 : 1935) else { return nil }
        let halves = rest[rest.index(after: slash)...].split(
            separator: "?",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let parts = halves[0].split(separator: "/")
        guard parts.count >= 2, let last = parts.last else { return nil }
        self.host = host
        self.port = port
        app = parts.dropLast().joined(separator: "/")
        name = String(last) + (halves.count > 1 ? "?" + halves[1] : "")
        tcURL = "\(scheme)\(rest[..<slash])/\(app)"
    }

    private static func authority(_ text: Substring, port: Int) -> (host: String, port: Int)? {
        var host = text
        var port = port
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            host = text[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}
