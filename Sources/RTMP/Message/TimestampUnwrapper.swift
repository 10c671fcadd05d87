import Media
import NIOCore

/// Extends a peer's 32-bit millisecond timestamps to 64 bits across the wrap every 49.7 days.
///
/// Audio and video share one clock. Data messages are unwrapped relative to it but do not advance it, since many
/// encoders send them with timestamp 0.
struct TimestampUnwrapper {
    private var last: Int64?

    /// Returns the 64-bit time with these low 32 bits that is nearest to the last one.
    mutating func unwrap(_ timestamp: UInt32, movesClock: Bool) -> Int64 {
        guard let last else {
            if movesClock { last = Int64(timestamp) }
            return Int64(timestamp)
        }
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        let unwrapped = last + Int64(step)
        if movesClock { self.last = unwrapped }
        return unwrapped
    }
}

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
