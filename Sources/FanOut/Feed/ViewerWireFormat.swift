import Media
import NIOCore
import RTMP
import Stage

/// The wire format in which a viewer receives the feed.
enum ViewerWireFormat: Int, CaseIterable, Sendable {
    case rtmp
    case flv

    /// The playback protocol of the format.
    var playback: PlaybackProtocol {
        switch self {
        case .rtmp: .rtmp
        case .flv: .flv
        }
    }

    /// Encodes packets; the bytes are the same for every viewer.
    func encode(_ packets: some Collection<MediaPacket>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(packets.reduce(0) { $0 + $1.body.readableBytes + 64 })
        append(packets, to: &buffer)
        return buffer
    }

    /// Encodes a batch in which a player can start at `start`: all of it, and the part from there, sharing storage.
    ///
    /// - Parameter start: An index of the batch, or its end if no player can start.
    func encode(_ batch: [MediaPacket], start: Int) -> (all: ByteBuffer, fromStart: ByteBuffer?) {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(batch.reduce(0) { $0 + $1.body.readableBytes + 64 })
        append(batch[..<start], to: &buffer)
        let offset = buffer.readableBytes
        append(batch[start...], to: &buffer)
        var rest = buffer
        rest.moveReaderIndex(forwardBy: offset)
        return (buffer, start < batch.endIndex ? rest : nil)
    }

    private func append(_ packets: some Collection<MediaPacket>, to buffer: inout ByteBuffer) {
        for var packet in packets {
            // Metadata has no timestamp. At zero FFmpeg skips it; at any other time FFmpeg takes it for the first
            // packet of a subtitle stream and waits for the next one.
            if packet.content == .metadata { packet.timestamp = 0 }
            switch self {
            case .rtmp: ViewerChunks.write(packet, to: &buffer)
            case .flv: FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
            }
        }
    }
}
