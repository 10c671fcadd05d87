public import Media
public import NIOCore

/// The server side of an RTMP connection, without I/O.
///
/// The driver appends received bytes, processes events until there are none, answers `publish` and `play`, and writes
/// the output of `drainOutput`. No event is returned while an answer is pending or while the session `isPaused`.
public struct ServerSession {
    /// An event for the driver.
    public enum Event: Sendable {
        /// A publish request, to be answered with `acceptPublish` or `refuse`.
        case publish(PublishRequest)
        /// A play request, to be answered with `acceptPlay` or `refuse`.
        case play(PlayRequest)
        /// A packet of the publisher.
        case packet(MediaPacket)
        /// The peer ended its stream; the connection stays open and may publish or play again.
        case streamEnded
        /// The session refused the peer; the driver writes the output and closes.
        case refused(RTMPStatus)
    }

    /// The state of the connection.
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
    /// The bytes received without publishing, in the minute that began at `countedSince`.
    private var unpublishedBytes = 0
    private var countedSince: MonotonicTime?
    private var announcedPublish = false
    /// The transaction number of the play command; 0 if no result is expected.
    private var playTransaction = 0.0
    private let granted: GrantedLimits
    private var limits: RTMPLimits { granted.limits }
    private let remoteAddress: String?

    /// The seconds over which the bytes of a peer that does not publish are counted.
    private static let unpublishedWindow = 60.0

    /// Creates a session before the first byte.
    ///
    /// - Parameters:
    ///   - limits: The limits of the peer.
    ///   - remoteAddress: The address reported in requests.
    public init(limits: RTMPLimits = RTMPLimits(), remoteAddress: String? = nil) {
        self.init(GrantedLimits(limits), remoteAddress: remoteAddress)
    }

    init(_ granted: GrantedLimits, remoteAddress: String?) {
        self.granted = granted
        self.remoteAddress = remoteAddress
        reader = MessageReader(granted, acceptsMedia: false, isPaced: true)
    }

    /// Whether one turn's messages were processed and more may follow; the driver writes the output and calls `resume`
    /// in a later turn of its event loop.
    public var isPaused: Bool { reader.isPaused }

    /// Begins another turn, so that `next` returns events again.
    public mutating func resume() {
        reader.resume()
    }

    /// Whether a publish or play request awaits its answer.
    public var isAwaitingAnswer: Bool { phase == .awaitingPublish || phase == .awaitingPlay }

    /// Whether the handshake is complete.
    public var isHandshakeComplete: Bool { phase != .handshake }

    /// Whether the peer publishes or plays.
    public var isActive: Bool { phase == .publishing || phase == .playing }

    /// Whether the peer supports reconnect requests.
    public var canReconnect: Bool { connect?.capabilities.extensions.contains(.reconnect) ?? false }

    // MARK: Input

    /// Processes bytes received from the peer.
    ///
    /// - Parameters:
    ///   - bytes: The received bytes.
    ///   - now: The time of the read.
    /// - Throws: A violation if a peer that does not publish exceeds its byte limit.
    public mutating func receive(_ bytes: ByteBuffer, at now: MonotonicTime) throws(RTMPViolation) {
        guard phase != .ended else { return }
        reader.count(bytes.readableBytes)
        if phase != .publishing { try countUnpublished(bytes.readableBytes, at: now) }
        if phase == .handshake {
            try performHandshake(bytes)
        } else {
            reader.append(bytes)
        }
        if phase != .handshake { reader.acknowledge(by: &writer) }
    }

    private mutating func countUnpublished(_ bytes: Int, at now: MonotonicTime) throws(RTMPViolation) {
        if let countedSince, now.seconds(since: countedSince) < Self.unpublishedWindow {
            unpublishedBytes += bytes
        } else {
            countedSince = now
            unpublishedBytes = bytes
        }
        if phase == .playing {
            guard unpublishedBytes <= limits.playingBytes else { throw RTMPViolation("too many bytes from a player") }
        } else {
            guard unpublishedBytes <= limits.preAuthBytes else {
                throw RTMPViolation("too many bytes before publish or play")
            }
        }
    }

    private mutating func performHandshake(_ bytes: ByteBuffer) throws(RTMPViolation) {
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

    /// Returns and clears the pending output, or nil if there is none.
    public mutating func drainOutput() -> ByteBuffer? {
        writer.drain()
    }

    // MARK: Events

    /// Returns the next event, or nil if more bytes or an answer are needed first.
    ///
    /// - Throws: A violation, after which the connection must be closed.
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
            return try handle(RTMPCommand(message, limits: limits), streamID: message.streamID)
        default:
            break
        }
        return nil
    }

    // MARK: Commands

    private mutating func handle(_ command: RTMPCommand, streamID: UInt32) throws(RTMPViolation) -> Event? {
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

    /// Sends an empty result, which satisfies clients for commands that are not implemented.
    private mutating func answer(_ command: RTMPCommand) {
        guard command.transaction != 0 else { return }
        writer.command("_result", transaction: command.transaction, .null, .null)
    }

    private mutating func handleConnect(_ command: RTMPCommand) throws(RTMPViolation) -> Event? {
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
        // Sent before anything longer than 128 bytes, since some encoders apply the new size only to later messages.
        writer.setChunkSize(ViewerChunks.chunkSize)
        var properties: AMF0Object = ["fmsVer": "FMS/3,5,7,7009", "capabilities": 31, "mode": 1]
        properties.entries += EnhancedCapabilities.serverProperties
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

    private mutating func handlePublish(_ command: RTMPCommand, streamID: UInt32) throws(RTMPViolation) -> Event? {
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

    private mutating func handlePlay(_ command: RTMPCommand, streamID: UInt32) throws(RTMPViolation) -> Event? {
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

    // MARK: Responses

    /// Accepts the publish request.
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

    /// Accepts the play request; media may follow immediately.
    ///
    /// - Parameter sessionID: Sent as `sid` in the status and in a `_result` after it. The specification defines no
    ///   result for `play`, but no earlier command identifies the room for which the ID is made.
    public mutating func acceptPlay(sessionID: String? = nil) {
        guard phase == .awaitingPlay else { return }
        phase = .playing
        // Chunks for viewers contain this message stream ID, whatever stream the player requested.
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

    /// Refuses the request or ends the stream; further input is ignored.
    public mutating func refuse(_ status: RTMPStatus) {
        guard phase != .ended else { return }
        if phase != .handshake {
            if phase == .playing, !status.isError { writer.event(.streamEnd, streamID) }
            writer.status(status, streamID: streamID)
        }
        phase = .ended
        reader = MessageReader(granted, acceptsMedia: false, isPaced: true)
    }

    /// Asks the peer to reconnect, if it supports that.
    public mutating func requestReconnect(_ reason: String) {
        guard canReconnect, phase != .ended else { return }
        writer.status(.reconnectRequest(reason), streamID: 0)
    }

    /// Sends a ping.
    ///
    /// - Parameter milliseconds: The timestamp that the peer echoes.
    public mutating func ping(milliseconds: Int64) {
        guard phase != .ended, phase != .handshake else { return }
        writer.event(.pingRequest, UInt32(truncatingIfNeeded: milliseconds))
    }
}

/// The content of a peer's `connect` command.
struct ConnectRequest {
    var app: StreamName
    var tcURL: String?
    var query: [String: String]
    var objectEncoding: Double
    var capabilities: EnhancedCapabilities
    /// The client name (`flashVer`).
    var clientName: String?

    /// Reads the command object; the URL replaces a missing application.
    init(_ properties: AMF0Object) {
        tcURL = properties.value(ignoringCaseOf: "tcUrl")?.string
        let address = tcURL.flatMap { StreamName(url: $0) }
        app = StreamName(properties["app"]?.string ?? "")
        query = (address?.query ?? [:]).merging(app.query) { $1 }
        if app.path.isEmpty, let address { app = address }
        objectEncoding = properties["objectEncoding"]?.number ?? 0
        capabilities = EnhancedCapabilities(properties)
        clientName = properties.value(ignoringCaseOf: "flashVer")?.string
    }

    /// Returns the application, stream name and parameters of a publish or play command; an empty name is taken from
    /// the last path component of the application.
    func target(_ name: String) -> (app: String, name: StreamName, query: [String: String]) {
        var app = app
        var target = StreamName(name)
        if target.path.isEmpty, let last = app.removeLastPart() { target.path = last }
        return (app.path, target, query.merging(target.query) { $1 })
    }
}

/// Parses the application and stream names that peers send.
struct StreamName: Equatable {
    /// The path components joined by `/`, without leading and trailing slashes.
    var path: String
    var query: [String: String]

    /// Parses `"live/?token=x"`, `/key?a=b` and similar; surrounding quotes, blanks and slashes are removed.
    init(_ text: String) {
        let trimmed = text.drop { Self.isJunk($0) }
        let halves = trimmed.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = (halves.first ?? "").split(separator: "/")
        var last = parts.joined(separator: "/")
        while let character = last.last, Self.isJunk(character) { last.removeLast() }
        path = last
        query = halves.count > 1 ? Self.parameters(halves[1]) : [:]
    }

    /// Parses the path and query of an `rtmp://` URL; nil if it has no scheme or path.
    init?(url: String) {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        self.init(String(rest[slash...]))
    }

    /// Returns whether the path has one to four components of letters, digits, `_`, `-` and `.`, each within the length
    /// limit and none of dots alone.
    func isAcceptable(limits: RTMPLimits) -> Bool {
        let parts = path.split(separator: "/")
        return (1...4).contains(parts.count)
            && parts.allSatisfy { part in
                part.utf8.count <= limits.nameLength
                    && part.utf8.allSatisfy(Self.isAllowed)
                    && part.contains { $0 != "." }
            }
    }

    /// Removes and returns the last component; some encoders have one field for the URL and none for the key.
    mutating func removeLastPart() -> String? {
        guard let slash = path.lastIndex(of: "/") else { return nil }
        let last = String(path[path.index(after: slash)...])
        path = String(path[..<slash])
        return last
    }

    private static func isJunk(_ character: Character) -> Bool {
        character == "\"" || character == "'" || character == " " || character == "\0"
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    private static func parameters(_ text: Substring) -> [String: String] {
        var result: [String: String] = [:]
        for pair in text.split(separator: "&").prefix(32) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = decoded(halves[0])
            if result[key] == nil { result[key] = halves.count > 1 ? decoded(halves[1]) : "" }
        }
        return result
    }

    /// Decodes percent escapes; malformed ones are left unchanged.
    private static func decoded(_ text: Substring) -> String {
        guard text.contains("%") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Substring(text).utf8
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            if byte == UInt8(ascii: "%"), digits.count == 2, let value = UInt8(String(Substring(digits)), radix: 16) {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
