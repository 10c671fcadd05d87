public import Media
public import NIOCore

/// Media messages as chunks that are the same for every viewer: written once, shared by all.
///
/// Full headers with absolute timestamps (modulo 2^32), one chunk size, one message stream, and a chunk stream of its
/// own for each kind, so that no chunk depends on what a viewer got before it.
public enum ViewerChunks {
    /// Bytes in a chunk, announced to every peer of the server.
    public static let chunkSize = 60_000
    /// The message stream of all media; also the answer to every `createStream`.
    static let streamID: UInt32 = 1

    /// Appends a packet; its timestamp is taken modulo 2^32.
    public static func write(_ packet: MediaPacket, to buffer: inout ByteBuffer) {
        let message = RTMPMessage(
            type: packet.messageType,
            streamID: streamID,
            timestamp: UInt32(truncatingIfNeeded: packet.timestamp),
            payload: packet.body
        )
        buffer.writeChunks(message, chunkStream: chunkStream(of: packet), chunkSize: chunkSize)
    }

    /// Bytes that `write` appends for a packet.
    public static func size(of packet: MediaPacket) -> Int {
        ByteBuffer.chunksLength(
            payload: packet.body.readableBytes,
            isExtended: UInt32(truncatingIfNeeded: packet.timestamp) >= 0xFF_FFFF,
            chunkSize: chunkSize
        )
    }

    private static func chunkStream(of packet: MediaPacket) -> UInt8 {
        if packet.isVideo { return 6 }
        return packet.isAudio ? 4 : 5
    }
}
