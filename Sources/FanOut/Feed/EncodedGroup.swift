import Media
import NIOCore

/// The present group of pictures as the bytes of one form, built only as far as somebody needed it.
struct EncodedGroup {
    /// Pieces that a joiner is sent at most; few enough for one call to the system, with what goes before them.
    private static let mostBuffers = 8

    private let wire: ViewerWire
    /// The group's bytes: a buffer per batch, shared with the viewers that got them live; many are put together for
    /// joiners.
    private(set) var buffers: [ByteBuffer] = []
    /// Bytes of those.
    private(set) var byteCount = 0
    private var packetCount = 0
    private var cachedPreamble: ByteBuffer?

    init(_ wire: ViewerWire) {
        self.wire = wire
    }

    /// A new group began.
    mutating func restart() {
        buffers.removeAll(keepingCapacity: true)
        byteCount = 0
        packetCount = 0
        cachedPreamble = nil
    }

    /// Keeps a buffer that was just built from the group's last `packets` packets, if all before are kept too.
    mutating func append(_ buffer: ByteBuffer, packets: Int, of group: PacketGroup) {
        guard packetCount + packets == group.packets.count else { return }
        buffers.append(buffer)
        byteCount += buffer.readableBytes
        packetCount += packets
    }

    /// Makes `buffers` the whole group in few pieces: builds what is missing, and puts together what is too many.
    mutating func catchUp(with group: PacketGroup) {
        defer { joinBuffers() }
        if packetCount > group.packets.count { restart() }
        guard packetCount < group.packets.count else { return }
        let rest = wire.encode(group.packets[packetCount...])
        buffers.append(rest)
        byteCount += rest.readableBytes
        packetCount = group.packets.count
    }

    /// Each piece is an entry in the queue of every joiner.
    private mutating func joinBuffers() {
        guard buffers.count > Self.mostBuffers else { return }
        var whole = ByteBuffer()
        whole.reserveCapacity(byteCount)
        for buffer in buffers { whole.writeImmutableBuffer(buffer) }
        buffers.removeAll(keepingCapacity: true)
        buffers.append(whole)
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
