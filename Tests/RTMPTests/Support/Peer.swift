import Media
import NIOCore

@testable import RTMP

/// Encodes the messages of an encoder or player.
struct Peer {
    var bytes = ByteBuffer()
    var chunkSize = 128

    /// The handshake; the server ignores the content of the blocks.
    static var handshake: ByteBuffer {
        var bytes = ByteBuffer(bytes: [3])
        bytes.writeRepeatingByte(7, count: 2 * 1536)
        return bytes
    }

    /// Returns the handshake and `connect` with common properties.
    static func connected(_ properties: AMF0Object = ["app": "live", "tcUrl": "rtmp://host/live"]) -> Peer {
        var peer = Peer(bytes: handshake)
        peer.command("connect", 1, .object(properties))
        return peer
    }

    /// Returns everything up to `publish`.
    static func publishing(_ name: AMF0Value = "sk_key", chunkSize: Int = 128) -> Peer {
        var peer = connected()
        if chunkSize != 128 { peer.setChunkSize(chunkSize) }
        peer.command("createStream", 2, .null)
        peer.command("publish", 3, .null, name, "live", streamID: 1)
        return peer
    }

    mutating func command(_ name: String, _ transaction: Double, _ values: AMF0Value..., streamID: UInt32 = 0) {
        var payload = ByteBuffer()
        payload.writeAMF0([.string(name), .number(transaction)] + values)
        message(20, payload, streamID: streamID, chunkStream: 3)
    }

    mutating func setChunkSize(_ size: Int) {
        message(1, ByteBuffer(integer: UInt32(size)), chunkStream: 2)
        chunkSize = size
    }

    mutating func message(
        _ type: UInt8,
        _ payload: ByteBuffer,
        timestamp: UInt32 = 0,
        streamID: UInt32 = 0,
        chunkStream: UInt8 = 6
    ) {
        let message = RTMPMessage(type: type, streamID: streamID, timestamp: timestamp, payload: payload)
        bytes.writeChunks(message, chunkStream: chunkStream, chunkSize: chunkSize)
    }

    /// Appends an H.264 frame with a recognizable body.
    mutating func video(_ timestamp: UInt32, isKey: Bool = false, length: Int = 300) {
        message(9, Self.videoBody(timestamp, isKey: isKey, length: length), timestamp: timestamp, streamID: 1)
    }

    mutating func audio(_ timestamp: UInt32, length: Int = 20) {
        var body = ByteBuffer(bytes: [0xAF, 1])
        body.writeRepeatingByte(UInt8(truncatingIfNeeded: timestamp), count: length)
        message(8, body, timestamp: timestamp, streamID: 1, chunkStream: 4)
    }

    /// Returns everything up to `play`.
    static func playing() -> Peer {
        var peer = connected()
        peer.command("createStream", 2, .null)
        peer.command("play", 4, .null, "room", streamID: 1)
        return peer
    }

    /// Returns the body of an aggregate that repeats one message.
    static func aggregate(of type: UInt8, _ payload: ByteBuffer, bytes: Int) -> ByteBuffer {
        var tag = ByteBuffer()
        tag.writeInteger(type)
        tag.writeInteger24(UInt32(payload.readableBytes))
        tag.writeRepeatingByte(0, count: 7)
        tag.writeImmutableBuffer(payload)
        tag.writeInteger(UInt32(payload.readableBytes + 11))
        var body = ByteBuffer()
        while body.readableBytes + tag.readableBytes <= bytes { body.writeImmutableBuffer(tag) }
        return body
    }

    static func videoBody(_ seed: UInt32, isKey: Bool = false, length: Int = 300) -> ByteBuffer {
        var body = ByteBuffer(bytes: [isKey ? 0x17 : 0x27, 1, 0, 0, 0])
        body.writeInteger(UInt32(length))
        let pattern = min(length, 300)
        for index in 0..<pattern { body.writeInteger(UInt8(truncatingIfNeeded: index &+ Int(seed))) }
        body.writeRepeatingByte(UInt8(truncatingIfNeeded: seed), count: length - pattern)
        return body
    }
}

/// Runs a server session on given input and records the results.
struct SessionRun {
    var session: ServerSession
    var packets: [MediaPacket] = []
    var publishes: [PublishRequest] = []
    var plays: [PlayRequest] = []
    var refusals: [RTMPStatus] = []
    var streamsEnded = 0
    var violation: RTMPViolation?
    /// The time of the input.
    var now = MonotonicTime(nanoseconds: 0)
    /// The number of pauses of the session.
    var pauses = 0
    /// The size in bytes of the largest output of one turn.
    var largestOutput = 0
    /// The server's messages after the handshake.
    var replies: [RTMPMessage] = []
    /// The server's output including the handshake, until the reader clears it.
    var rawReplies = ByteBuffer()
    private var replyDecoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
    private var handshakeLeft = 1 + 2 * 1536

    /// - Parameter step: The number of bytes per read.
    init(_ bytes: ByteBuffer, step: Int = .max, limits: RTMPLimits = RTMPLimits()) {
        session = ServerSession(limits: limits, remoteAddress: "192.0.2.1")
        feed(bytes, step: step)
    }

    mutating func feed(_ bytes: ByteBuffer, step: Int = .max) {
        var rest = bytes
        while violation == nil, let part = rest.readSlice(length: min(step, rest.readableBytes)), part.readableBytes > 0
        {
            do {
                try session.receive(part, at: now)
                while let event = try session.next() { handle(event) }
                while session.isPaused {
                    pauses += 1
                    drainOutput()
                    session.resume()
                    while let event = try session.next() { handle(event) }
                }
            } catch {
                violation = error
            }
            drainOutput()
        }
    }

    private mutating func handle(_ event: ServerSession.Event) {
        switch event {
        case .publish(let request):
            publishes.append(request)
            session.acceptPublish()
        case .play(let request):
            plays.append(request)
            session.acceptPlay(sessionID: "v-7")
        case .packet(let packet): packets.append(packet)
        case .streamEnded: streamsEnded += 1
        case .refused(let status): refusals.append(status)
        }
    }

    mutating func drainOutput() {
        guard var output = session.drainOutput() else { return }
        largestOutput = max(largestOutput, output.readableBytes)
        rawReplies.writeImmutableBuffer(output)
        let skipped = min(handshakeLeft, output.readableBytes)
        output.moveReaderIndex(forwardBy: skipped)
        handshakeLeft -= skipped
        replyDecoder.append(output)
        while let message = try? replyDecoder.next() {
            if message.type == MessageType.setChunkSize, let size = message.payload.number {
                try? replyDecoder.setChunkSize(size)
            }
            replies.append(message)
        }
    }

    /// The server's commands, in order.
    var commands: [RTMPCommand] {
        replies.filter { $0.type == MessageType.command }.compactMap { try? RTMPCommand($0, limits: RTMPLimits()) }
    }

    /// The codes of the server's `onStatus` commands, in order.
    var statusCodes: [String] {
        commands.filter { $0.name == "onStatus" }.compactMap { $0.argument(0)?.object?["code"]?.string }
    }

    func answers(to transaction: Double) -> [RTMPCommand] {
        commands.filter { $0.transaction == transaction }
    }
}

extension MediaPacket {
    /// The bytes of the body, for comparisons.
    var bytes: [UInt8] { Array(body.readableBytesView) }
}
