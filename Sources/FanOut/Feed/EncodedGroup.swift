import Media
import NIOCore

/// The present group of pictures as the bytes of one form, built only as far as somebody needed it.
struct EncodedGroup {
    private let wire: ViewerWire
    /// The group's bytes, one buffer per batch, shared with the viewers that got them live.
    private(set) var buffers: [ByteBuffer] = []
    private var packetCount = 0
    private var cachedPreamble: ByteBuffer?

    init(_ wire: ViewerWire) {
        self.wire = wire
    }

    /// A new group began.
    mutating func restart() {
        buffers.removeAll(keepingCapacity: true)
        packetCount = 0
        cachedPreamble = nil
    }

    /// Keeps a buffer that was just built from the group's last `packets` packets, if all before are kept too.
    mutating func append(_ buffer: ByteBuffer, packets: Int, of group: PacketGroup) {
        guard packetCount + packets == group.packets.count else { return }
        buffers.append(buffer)
        packetCount += packets
    }

    /// Builds what is missing.
    mutating func catchUp(with group: PacketGroup) {
        if packetCount > group.packets.count { restart() }
        guard packetCount < group.packets.count else { return }
        buffers.append(wire.encode(group.packets[packetCount...]))
        packetCount = group.packets.count
    }

    /// Metadata, and decoder configurations stamped with the time at which the group begins.
    mutating func preamble(of group: PacketGroup) -> ByteBuffer {
        if let cachedPreamble { return cachedPreamble }
        let start = group.packets.first?.timestamp
        let packets = group.opening.map { packet in
            var packet = packet
            packet.timestamp = start ?? packet.timestamp
            return packet
        }
        let buffer = wire.encode(packets)
        cachedPreamble = buffer
        return buffer
    }
}
