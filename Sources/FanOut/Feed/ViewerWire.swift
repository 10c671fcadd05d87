import Media
import NIOCore
import RTMP

/// The form in which a viewer takes the feed.
enum ViewerWire: Int, CaseIterable, Sendable {
    case rtmp
    case flv

    /// The packets as bytes that are the same for every viewer of this form.
    func encode(_ packets: some Collection<MediaPacket>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(packets.reduce(0) { $0 + $1.body.readableBytes + 64 })
        for var packet in packets {
            // Metadata has no place in time. FFmpeg and what is built on it skip it at zero, and take it at any other
            // time for the first line of a stream of captions, whose next line they then wait for.
            if packet.content == .metadata { packet.timestamp = 0 }
            switch self {
            case .rtmp: ViewerChunks.write(packet, to: &buffer)
            case .flv: FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
            }
        }
        return buffer
    }
}
