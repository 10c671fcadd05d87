public import Media
public import NIOCore

/// The server's side of one RTMP connection, without I/O: bytes in, events and bytes out.
///
/// The driver appends what it reads, takes events until there are none, answers `publish` and `play`, and writes what
/// `takeOutput` gives. While an answer is outstanding no further event comes, nor while the session `isPaused`.
public struct ServerSession {
    /// What the driver has to act on.
    public enum Event: Sendable {
        /// Answer with `acceptPublish` or `refuse`.
        case publish(PublishRequest)
        /// Answer with `acceptPlay` or `refuse`.
        case play(PlayRequest)
        /// The publisher's media.
        case packet(MediaPacket)
        /// The peer ended its stream; the connection stays, and may publish or play again.
        case streamEnded
        /// The peer was refused; write the output and close.
        case refused(RTMPStatus)
    }

    /// What the connection is doing.
    enum Phase: Equatable {
        case handshake
        case idle
        case awaitingPublish
        case awaitingPlay
        case publishing
        case playing
        case ended
    }

    private(set) var phase = Phase.handshake
    private(set) var connect: ConnectRequest?
    private(set) var streamID = ViewerChunks.streamID
    private(set) var writer = MessageWriter()
    private var handshake = ServerHandshake()
    private var handshakeInput = ByteBuffer()
    private var reader: MessageReader
    private var clock = TimestampUnwrapper()
    /// Bytes that came while nothing was published, in the minute that began at `countedSince`.
    private var quietBytes = 0
    private var countedSince: MonotonicTime?
    private var announcedPublish = false
    /// The number of the player's call; 0 for one that wants no answer.
    private var playTransaction = 0.0
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let remoteAddress: String?

    /// For how long the bytes of a peer that does not publish are counted together, in seconds.
    private static let quietWindow = 60.0

    /// A session before the first byte.
    ///
    /// - Parameters:
    ///   - limits: What the peer is granted.
    ///   - remoteAddress: Goes into the requests as it is.
    public init(limits: RTMPLimits = RTMPLimits(), remoteAddress: String? = nil) {
        self.init(GrantedLimits(limits), remoteAddress: remoteAddress)
    }

    init(_ granted: GrantedLimits, remoteAddress: String?) {
        self.granted = granted
        self.remoteAddress = remoteAddress
        reader = MessageReader(granted, acceptsMedia: false, isPaced: true)
    }

    /// Whether the messages of one turn were handled and there may be more: the driver writes the output, and calls
    /// `resume` in a later turn of its event loop.
    public var isPaused: Bool { reader.isPaused }

    /// Begins another turn; `next` gives events again.
    public mutating func resume() {
        reader.resume()
    }

    /// Whether an answer to `publish` or `play` is outstanding.
    public var isAwaitingAnswer: Bool { phase == .awaitingPublish || phase == .awaitingPlay }

    /// Whether the handshake is over.
    public var isShakenHands: Bool { phase != .handshake }

    /// Whether the peer publishes or plays.
    public var isActive: Bool { phase == .publishing || phase == .playing }

    /// Whether the peer knows what to do with a request to reconnect.
    public var canReconnect: Bool { connect?.capabilities.extensions.contains(.reconnect) ?? false }

    // MARK: Bytes

    /// Takes bytes from the peer.
    ///
    /// - Parameters:
    ///   - bytes: What was read.
    ///   - now: When that was.
    /// - Throws: A violation when a peer that does not publish sends more than it is granted.
    public mutating func receive(_ bytes: ByteBuffer, at now: MonotonicTime) throws(RTMPViolation) {
        guard phase != .ended else { return }
        reader.count(bytes.readableBytes)
        if phase != .publishing { try countQuiet(bytes.readableBytes, at: now) }
        if phase == .handshake {
            try shakeHands(bytes)
        } else {
            reader.append(bytes)
        }
        if phase != .handshake { reader.acknowledge(by: &writer) }
    }

    private mutating func countQuiet(_ bytes: Int, at now: MonotonicTime) throws(RTMPViolation) {
        if let countedSince, now.seconds(since: countedSince) < Self.quietWindow {
            quietBytes += bytes
        } else {
            countedSince = now
            quietBytes = bytes
        }
        if phase == .playing {
            guard quietBytes <= limits.playingBytes else { throw RTMPViolation("too much for a player to say") }
        } else {
            guard quietBytes <= limits.preAuthBytes else { throw RTMPViolation("too much before publish or play") }
        }
    }

    private mutating func shakeHands(_ bytes: ByteBuffer) throws(RTMPViolation) {
        handshakeInput.writeImmutableBuffer(bytes)
        try writer.withRawOutput { (output: inout ByteBuffer) throws(RTMPViolation) in
            try handshake.advance(input: &handshakeInput, output: &output)
        }
        if handshake.state == .done {
            phase = .idle
            reader.append(handshakeInput)
            handshakeInput = ByteBuffer()
        }
    }

    /// What is to be written to the peer; nil when there is nothing.
    public mutating func takeOutput() -> ByteBuffer? {
        writer.take()
    }

    // MARK: Events

    /// The next event; nil when more bytes, or an answer, are needed first.
    ///
    /// - Throws: A violation after which the connection cannot go on.
    public mutating func next() throws(RTMPViolation) -> Event? {
        while phase != .handshake, phase != .ended, !isAwaitingAnswer {
            guard let message = try reader.next(answers: &writer) else { return nil }
            if let event = try handle(message) { return event }
        }
        return nil
    }

    private mutating func handle(_ message: RTMPMessage) throws(RTMPViolation) -> Event? {
        switch message.type {
        case MessageType.audio, MessageType.video, MessageType.data, MessageType.dataAMF3:
            guard phase == .publishing, let packet = clock.packet(message) else { return nil }
            return .packet(packet)
        case MessageType.command, MessageType.commandAMF3:
            return try handle(Command(message, limits: limits), streamID: message.streamID)
        default:
            break
        }
        return nil
    }

    // MARK: Commands

    private mutating func handle(_ command: Command, streamID: UInt32) throws(RTMPViolation) -> Event? {
        switch command.name {
        case "connect":
            return try handleConnect(command)
        case "createStream":
            writer.command("_result", transaction: command.transaction, .null, .number(Double(ViewerChunks.streamID)))
        case "getStreamLength":
            writer.command("_result", transaction: command.transaction, .null, 0)
        case "FCPublish":
            announcedPublish = true
            answer(command)
        case "FCSubscribe":
            answer(command)
            writer.command("onFCSubscribe", transaction: 0, .null, RTMPStatus.playStart.object())
        case "publish":
            return try handlePublish(command, streamID: streamID)
        case "play":
            return try handlePlay(command, streamID: streamID)
        case "FCUnpublish":
            answer(command)
            writer.command("onFCUnpublish", transaction: 0, .null, RTMPStatus.unpublishSuccess.object())
            if phase == .publishing { return endStream() }
        case "deleteStream", "closeStream":
            if isActive { return endStream() }
        case "_result", "_error", "onStatus":
            break
        default:
            answer(command)
        }
        return nil
    }

    /// The empty answer that satisfies every call that is not implemented.
    private mutating func answer(_ command: Command) {
        guard command.transaction != 0 else { return }
        writer.command("_result", transaction: command.transaction, .null, .null)
    }

    private mutating func handleConnect(_ command: Command) throws(RTMPViolation) -> Event? {
        guard connect == nil else { throw RTMPViolation("a second connect") }
        let request = ConnectRequest(command.object ?? AMF0Object())
        guard request.app.isAcceptable(limits: limits) else {
            let status = RTMPStatus.connectRejected("The application name is not acceptable.")
            writer.command("_error", transaction: command.transaction, .null, status.object())
            phase = .ended
            return .refused(status)
        }
        connect = request
        writer.windowAcknowledgementSize(limits.acknowledgementWindow)
        writer.peerBandwidth(limits.acknowledgementWindow)
        // Before anything longer than 128 bytes: some encoders take the new size only for later messages.
        writer.setChunkSize(ViewerChunks.chunkSize)
        var properties: AMF0Object = ["fmsVer": "FMS/3,5,7,7009", "capabilities": 31, "mode": 1]
        properties.entries += EnhancedCapabilities.ours
        let encoding = AMF0Object.Entry(key: "objectEncoding", value: .number(request.objectEncoding))
        writer.command(
            "_result",
            transaction: command.transaction,
            .object(properties),
            RTMPStatus.connectSuccess.object([encoding])
        )
        writer.command("onBWDone", transaction: 0, .null)
        return nil
    }

    private mutating func handlePublish(_ command: Command, streamID: UInt32) throws(RTMPViolation) -> Event? {
        guard let connect else { throw RTMPViolation("publish before connect") }
        self.streamID = streamID == 0 ? ViewerChunks.streamID : streamID
        guard phase == .idle else {
            writer.status(.publishDenied("This connection is already in use."), streamID: self.streamID)
            return nil
        }
        let target = connect.target(command.argument(0)?.string ?? "")
        guard target.name.isAcceptable(limits: limits) else {
            return refusal(.publishBadName("The stream name is not acceptable."))
        }
        phase = .awaitingPublish
        return .publish(
            PublishRequest(
                app: target.app,
                name: target.name.path,
                query: target.query,
                type: command.argument(1)?.string ?? "live",
                remoteAddress: remoteAddress,
                capabilities: connect.capabilities,
                tcURL: connect.tcURL
            )
        )
    }

    private mutating func handlePlay(_ command: Command, streamID: UInt32) throws(RTMPViolation) -> Event? {
        guard let connect else { throw RTMPViolation("play before connect") }
        self.streamID = streamID == 0 ? ViewerChunks.streamID : streamID
        guard phase == .idle else {
            writer.status(.playFailed("This connection is already in use."), streamID: self.streamID)
            return nil
        }
        let target = connect.target(command.argument(0)?.string ?? "")
        guard target.name.isAcceptable(limits: limits) else {
            return refusal(.playStreamNotFound("The stream name is not acceptable."))
        }
        phase = .awaitingPlay
        playTransaction = command.transaction
        return .play(
            PlayRequest(
                app: target.app,
                name: target.name.path,
                query: target.query,
                remoteAddress: remoteAddress,
                capabilities: connect.capabilities,
                tcURL: connect.tcURL,
                clientName: connect.clientName
            )
        )
    }

    private mutating func refusal(_ status: RTMPStatus) -> Event {
        refuse(status)
        return .refused(status)
    }

    private mutating func endStream() -> Event {
        if phase == .publishing { writer.status(.unpublishSuccess, streamID: streamID) }
        phase = .idle
        reader.setAcceptsMedia(false)
        announcedPublish = false
        reader.dropAggregate()
        clock = TimestampUnwrapper()
        return .streamEnded
    }

    // MARK: Answers

    /// Lets the peer publish.
    public mutating func acceptPublish() {
        guard phase == .awaitingPublish else { return }
        phase = .publishing
        reader.setAcceptsMedia(true)
        if announcedPublish {
            writer.command("onFCPublish", transaction: 0, .null, RTMPStatus.publishStart.object())
        }
        writer.event(.streamBegin, streamID)
        writer.status(.publishStart, streamID: streamID)
    }

    /// Lets the peer play; media may follow at once.
    ///
    /// - Parameter sessionID: Goes as `sid` into the status, and into a `_result` behind it, for a player that wants to
    ///   know its own name. It is `play` whose result it is, which by the specification has none: an id is made for one
    ///   room, and no call before says which.
    public mutating func acceptPlay(sessionID: String? = nil) {
        guard phase == .awaitingPlay else { return }
        phase = .playing
        // Media for viewers is chunked with this message stream in it, whatever stream the player asked on.
        streamID = ViewerChunks.streamID
        writer.event(.streamBegin, streamID)
        writer.status(.playReset, streamID: streamID)
        let sid = sessionID.map { [AMF0Object.Entry(key: "sid", value: .string($0))] } ?? []
        writer.status(.playStart, streamID: streamID, properties: sid)
        if !sid.isEmpty, playTransaction != 0 {
            writer.command("_result", transaction: playTransaction, .null, .object(AMF0Object(sid)))
        }
        writer.data("|RtmpSampleAccess", .boolean(true), .boolean(true), streamID: streamID)
        reader.compact()
    }

    /// Says no, or that it is over; nothing more is taken from the peer.
    public mutating func refuse(_ status: RTMPStatus) {
        guard phase != .ended else { return }
        if phase != .handshake {
            if phase == .playing, !status.isError { writer.event(.streamEnd, streamID) }
            writer.status(status, streamID: streamID)
        }
        phase = .ended
        reader = MessageReader(granted, acceptsMedia: false, isPaced: true)
    }

    /// Asks the peer to connect again, when it knows how to.
    public mutating func requestReconnect(_ reason: String) {
        guard canReconnect, phase != .ended else { return }
        writer.status(.reconnectRequest(reason), streamID: 0)
    }

    /// Asks for a sign of life.
    ///
    /// - Parameter milliseconds: Comes back in the answer.
    public mutating func ping(milliseconds: Int64) {
        guard phase != .ended, phase != .handshake else { return }
        writer.event(.pingRequest, UInt32(truncatingIfNeeded: milliseconds))
    }
}
