import Media
import NIOCore

/// Writes messages as chunks into an output buffer.
struct MessageWriter {
    /// A user control event (RTMP 1.0, 7.1.7).
    enum ControlEvent: UInt16 {
        case streamBegin = 0
        case streamEnd = 1
        case setBufferLength = 3
        case pingRequest = 6
        case pingResponse = 7
    }

    private(set) var output = ByteBuffer()
    /// The chunk size announced to the peer.
    private var chunkSize = ChunkDecoder.defaultChunkSize

    /// Returns and clears the output, or nil if it is empty.
    mutating func drain() -> ByteBuffer? {
        guard output.readableBytes > 0 else { return nil }
        defer { output = ByteBuffer() }
        return output
    }

    /// Appends bytes outside of any message, for the handshake.
    mutating func withRawOutput<Failure: Error>(_ body: (inout ByteBuffer) throws(Failure) -> Void) throws(Failure) {
        try body(&output)
    }

    mutating func setChunkSize(_ size: Int) {
        control(MessageType.setChunkSize) { $0.writeInteger(UInt32(clamping: size)) }
        chunkSize = size
    }

    mutating func acknowledgement(_ received: UInt32) {
        control(MessageType.acknowledgement) { $0.writeInteger(received) }
    }

    mutating func windowAcknowledgementSize(_ window: UInt32) {
        control(MessageType.windowAcknowledgementSize) { $0.writeInteger(window) }
    }

    /// Limits the peer's output bandwidth; limit type 2 (dynamic).
    mutating func peerBandwidth(_ window: UInt32) {
        control(MessageType.setPeerBandwidth) {
            $0.writeInteger(window)
            $0.writeInteger(UInt8(2))
        }
    }

    mutating func event(_ event: ControlEvent, _ values: UInt32...) {
        control(MessageType.userControl) {
            $0.writeInteger(event.rawValue)
            for value in values { $0.writeInteger(value) }
        }
    }

    /// Appends a command or a result.
    mutating func command(_ name: String, transaction: Double, _ values: AMF0Value..., streamID: UInt32 = 0) {
        var payload = ByteBuffer()
        payload.writeAMF0(.string(name))
        payload.writeAMF0(.number(transaction))
        payload.writeAMF0(values)
        write(MessageType.command, payload, streamID: streamID, chunkStream: streamID == 0 ? 3 : 5)
    }

    /// Appends `onStatus` with the status and further properties.
    mutating func status(_ status: RTMPStatus, streamID: UInt32, properties: [AMF0Object.Entry] = []) {
        command("onStatus", transaction: 0, .null, status.object(properties), streamID: streamID)
    }

    /// Appends a data message.
    mutating func data(_ values: AMF0Value..., streamID: UInt32) {
        var payload = ByteBuffer()
        payload.writeAMF0(values)
        write(MessageType.data, payload, streamID: streamID, chunkStream: 5)
    }

    /// Appends a publisher's packet; its timestamp is written modulo 2^32.
    mutating func media(_ packet: MediaPacket, streamID: UInt32) {
        var payload = packet.body
        if packet.content == .metadata {
            // Asks the server to store the metadata for later players.
            payload = ByteBuffer()
            payload.writeAMF0("@setDataFrame")
            payload.writeImmutableBuffer(packet.body)
        }
        let message = RTMPMessage(
            type: packet.messageType,
            streamID: streamID,
            timestamp: UInt32(truncatingIfNeeded: packet.timestamp),
            payload: payload
        )
        let chunkStream: UInt8 = packet.isVideo ? 6 : packet.isAudio ? 4 : 5
        output.writeChunks(message, chunkStream: chunkStream, chunkSize: chunkSize)
    }

    private mutating func control(_ type: UInt8, _ fill: (inout ByteBuffer) -> Void) {
        var payload = ByteBuffer()
        fill(&payload)
        write(type, payload, streamID: 0, chunkStream: 2)
    }

    private mutating func write(_ type: UInt8, _ payload: ByteBuffer, streamID: UInt32, chunkStream: UInt8) {
        let message = RTMPMessage(type: type, streamID: streamID, timestamp: 0, payload: payload)
        output.writeChunks(message, chunkStream: chunkStream, chunkSize: chunkSize)
    }
}

extension RTMPStatus {
    /// Returns the information object of the status.
    func object(_ further: [AMF0Object.Entry] = []) -> AMF0Value {
        var object: AMF0Object = [
            "level": .string(level), "code": .string(code), "description": .string(description),
        ]
        object.entries += further
        return .object(object)
    }
}
