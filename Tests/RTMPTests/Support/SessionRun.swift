import Media
import NIOCore

@testable import RTMP

/// Runs a server session over given bytes and keeps what came of it.
struct SessionRun {
    var session: ServerSession
    var packets: [MediaPacket] = []
    var publishes: [PublishRequest] = []
    var plays: [PlayRequest] = []
    var refusals: [RTMPStatus] = []
    var streamsEnded = 0
    var violation: RTMPViolation?
    /// When the bytes come.
    var now = MonotonicTime(nanoseconds: 0)
    /// How often the session paused.
    var pauses = 0
    /// Bytes of the largest output of one turn.
    var largestOutput = 0
    /// What the server wrote, behind the handshake.
    var replies: [RTMPMessage] = []
    /// The same, byte for byte and with the handshake; whoever reads it empties it.
    var rawReplies = ByteBuffer()
    private var replyDecoder = ChunkDecoder(GrantedLimits(RTMPLimits()))
    private var handshakeLeft = 1 + 2 * 1536

    /// - Parameter step: Bytes handed over at a time.
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
                while let event = try session.next() { take(event) }
                while session.isPaused {
                    pauses += 1
                    takeOutput()
                    session.resume()
                    while let event = try session.next() { take(event) }
                }
            } catch {
                violation = error
            }
            takeOutput()
        }
    }

    private mutating func take(_ event: ServerSession.Event) {
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

    mutating func takeOutput() {
        guard var output = session.takeOutput() else { return }
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
    var commands: [Command] {
        replies.filter { $0.type == MessageType.command }.compactMap { try? Command($0, limits: RTMPLimits()) }
    }

    /// The codes of the server's `onStatus`, in order.
    var statusCodes: [String] {
        commands.filter { $0.name == "onStatus" }.compactMap { $0.argument(0)?.object?["code"]?.string }
    }

    func answers(to transaction: Double) -> [Command] {
        commands.filter { $0.transaction == transaction }
    }
}

extension MediaPacket {
    /// The body as an array, to compare.
    var bytes: [UInt8] { Array(body.readableBytesView) }
}
