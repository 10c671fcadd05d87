import Media
import NIOCore

extension TimestampUnwrapper {
    /// Converts an audio, video or data message to a packet with an unwrapped timestamp; nil if it carries no media.
    mutating func packet(_ message: RTMPMessage) -> MediaPacket? {
        switch message.type {
        case MessageType.audio:
            return MediaPacket(audioBody: message.payload, timestamp: unwrap(message.timestamp, movesClock: true))
        case MessageType.video:
            return MediaPacket(videoBody: message.payload, timestamp: unwrap(message.timestamp, movesClock: true))
        case MessageType.data, MessageType.dataAMF3:
            var payload = message.payload
            if message.type == MessageType.dataAMF3, payload.getInteger(at: payload.readerIndex) == UInt8(0) {
                payload.moveReaderIndex(forwardBy: 1)
            }
            return MediaPacket(dataBody: payload, timestamp: unwrap(message.timestamp, movesClock: false))
        default:
            return nil
        }
    }
}

extension ByteBuffer {
    /// The 32-bit value of a control message; nil if the payload is shorter.
    var number: UInt32? { getInteger(at: readerIndex) }
}
