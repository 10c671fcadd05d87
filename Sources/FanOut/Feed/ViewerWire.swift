import Media
import NIOCore
import RTMP
import Stage

/// The form in which a viewer takes the feed.
enum ViewerWire: Int, CaseIterable, Sendable {
    case rtmp
    case flv

    /// How viewers of this form watch.
    var playback: PlaybackProtocol {
        switch self {
        case .rtmp: .rtmp
        case .flv: .flv
        }
    }

    /// The packets as bytes that are the same for every viewer of this form.
    func encode(_ packets: some Collection<MediaPacket>) -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(packets.reduce(0) { $0 + $1.body.readableBytes + 64 })
        append(packets, to: &buffer)
        return buffer
    }

    /// The same of a batch in which a player can start at `start`: all of it, and what begins there, of one storage.
    ///
    /// - Parameter start: An index of the batch or its end, from which on nothing is left.
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
            // Metadata has no place in time. FFmpeg and what is built on it skip it at zero, and take it at any other
            // time for the first line of a stream of captions, whose next line they then wait for.
            if packet.content == .metadata { packet.timestamp = 0 }
            switch self {
            case .rtmp: ViewerChunks.write(packet, to: &buffer)
            case .flv: FLVTagWriter.write(packet, timestamp: packet.timestamp, to: &buffer)
            }
        }
    }
}
