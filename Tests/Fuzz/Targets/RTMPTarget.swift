import Media
import NIOCore

@testable import RTMP

extension FuzzTarget {
    /// A server session from any of its phases on: handshake, chunks, messages, commands, aggregates.
    ///
    /// The first byte sets the phase and the chunk size.
    static let rtmp = FuzzTarget("rtmp") { input in
        var input = input
        let mode = input.byte()
        let limits = RTMPLimits()
        var session = ServerSession(limits: limits, remoteAddress: "192.0.2.1")
        var now = MonotonicTime(nanoseconds: 0)
        do {
            for prelude in preludes.prefix(Int(mode & 3)) {
                try receive(prelude, &session, now, limits, publishes: mode & 4 == 0)
            }
            let step = [1, 7, 64, 256, 4096, 65_536][Int(mode >> 3) % 6]
            while input.rest.readableBytes > 0 {
                try receive(input.bytes(step), &session, now, limits, publishes: mode & 4 == 0)
                now = now.advanced(seconds: 0.5)
            }
        } catch {
            // A violation ends the connection.
        }
    }

    /// The handshake, and the commands `connect` and `play`.
    private static let preludes: [ByteBuffer] = {
        var handshake = ByteBuffer(bytes: [3])
        handshake.writeRepeatingByte(7, count: 2 * Handshake.blockLength)
        return [handshake, command("connect", .object(["app": "live"])), command("play", .null, "room")]
    }()

    private static func command(_ name: String, _ values: AMF0Value...) -> ByteBuffer {
        var payload = ByteBuffer()
        payload.writeAMF0([.string(name), 1] + values)
        var bytes = ByteBuffer()
        let message = RTMPMessage(type: MessageType.command, streamID: 0, timestamp: 0, payload: payload)
        bytes.writeChunks(message, chunkStream: 3, chunkSize: ChunkDecoder.defaultChunkSize)
        return bytes
    }

    private static func receive(
        _ bytes: ByteBuffer,
        _ session: inout ServerSession,
        _ now: MonotonicTime,
        _ limits: RTMPLimits,
        publishes: Bool
    ) throws(RTMPViolation) {
        try session.receive(bytes, at: now)
        var turns = 0
        repeat {
            session.resume()
            while let event = try session.next() {
                switch event {
                case .publish: session.acceptPublish()
                case .play where publishes: session.refuse(.playFailed("no"))
                case .play: session.acceptPlay(sessionID: "v-1")
                case .packet(let packet): _ = StreamMetadata(packet)
                case .streamEnded, .refused: break
                }
            }
            let output = session.drainOutput()?.readableBytes ?? 0
            demand(
                output < limits.turnResponseBytes + limits.commandMessageBytes,
                "the answers of one turn are bounded"
            )
            turns += 1
            demand(turns < 1_000_000, "turns come to an end")
        } while session.isPaused
    }
}

extension FuzzTarget {
    /// AMF0 values, and a command built from them.
    static let amf0 = FuzzTarget("amf0") { input in
        var decoder = AMF0Decoder(input.rest, limits: RTMPLimits())
        if let values = try? decoder.all() {
            var written = ByteBuffer()
            written.writeAMF0(values)
            var again = AMF0Decoder(written, limits: RTMPLimits())
            // Typed objects and references are reduced to what is used; the rest must survive a round trip.
            demand((try? again.all())?.count == values.count, "what is written is read")
        }
        let message = RTMPMessage(type: MessageType.command, streamID: 0, timestamp: 0, payload: input.rest)
        guard let command = try? RTMPCommand(message, limits: RTMPLimits()) else { return }
        let request = ConnectRequest(command.object ?? AMF0Object())
        let target = request.target(command.argument(0)?.string ?? "")
        demand(target.query.count <= 64, "parameters are bounded")
    }
}
