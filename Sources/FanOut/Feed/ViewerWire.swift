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
        for packet in packets {
            switch self {
            case .rtmp: ViewerChunks.write(packet, to: &buffer)
            case .flv: FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
            }
        }
        return buffer
    }
}
