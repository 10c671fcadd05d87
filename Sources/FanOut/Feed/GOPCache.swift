import Media
import NIOCore

/// Caches the current GOP and the decoder configurations, so that a new viewer starts at once.
///
/// Unlike a `CongestionQueue` it is read by many and consumed by none: a GOP over the limits is dropped as a whole.
struct GOPCache {
    private(set) var metadata: MediaPacket?
    private(set) var videoConfiguration: MediaPacket?
    private(set) var audioConfiguration: MediaPacket?
    /// The packets since the last start point; empty without one, or if the GOP exceeded its limits.
    private(set) var packets: [MediaPacket] = []

    private let limit: (milliseconds: Int64, bytes: Int)
    /// The total body size of `packets`.
    private(set) var bytes = 0
    /// The time of the last video packet or configuration; audio close to it is no start point.
    private var lastVideo: Int64?
    /// The configurations in force where the GOP starts.
    private var preambleAtGOPStart: [MediaPacket] = []

    /// The time without video after which audio is a start point, in milliseconds.
    private static let videoGap: Int64 = 2_000

    /// Whether any audio frame is a start point, however late the first keyframe comes.
    private let startsAtAudio: Bool

    /// - Parameter startsAtAudio: The reader needs no video: audio is a start point while the cache is empty.
    init(limit: (milliseconds: Int64, bytes: Int), startsAtAudio: Bool = false) {
        self.limit = limit
        self.startsAtAudio = startsAtAudio
    }

    /// Metadata and decoder configurations that a player needs before `packets`, in sending order.
    ///
    /// A configuration that changed within the GOP is among the packets.
    var preamble: [MediaPacket] {
        packets.isEmpty ? configuration : preambleAtGOPStart
    }

    private var configuration: [MediaPacket] {
        [metadata, videoConfiguration, audioConfiguration].compactMap { $0 }
    }

    /// Returns the index of the last packet of `batch` at which a player can start; nil if there is none.
    func startIndex(in batch: [MediaPacket]) -> Int? {
        if let key = batch.lastIndex(where: \.isKeyframe) { return key }
        if startsAtAudio, packets.isEmpty {
            return batch.firstIndex { if case .audio = $0.content { true } else { false } }
        }
        var lastVideo = lastVideo
        return batch.firstIndex { packet in
            if packet.isVideo { lastVideo = packet.timestamp }
            guard case .audio = packet.content else { return false }
            guard let lastVideo else { return true }
            return packet.timestamp - lastVideo > Self.videoGap
        }
    }

    /// Appends a batch; `start` is the result of `startIndex(in:)` for it.
    ///
    /// - Parameter byteLimit: A limit for the GOP, in addition to the cache's own.
    mutating func append(_ batch: [MediaPacket], start: Int?, byteLimit: Int = .max) {
        if let start {
            packets.removeAll(keepingCapacity: true)
            bytes = 0
            updateConfiguration(batch[..<start])
            preambleAtGOPStart = configuration
            append(batch[start...])
        } else if packets.isEmpty {
            updateConfiguration(batch[...])
        } else {
            append(batch[...])
        }
        if isTooLarge(byteLimit) {
            packets.removeAll(keepingCapacity: false)
            bytes = 0
        }
    }

    private func isTooLarge(_ byteLimit: Int) -> Bool {
        guard let first = packets.first, let last = packets.last else { return false }
        return bytes > min(limit.bytes, byteLimit) || last.timestamp - first.timestamp > limit.milliseconds
    }

    private mutating func append(_ batch: ArraySlice<MediaPacket>) {
        updateConfiguration(batch)
        packets.append(contentsOf: batch)
        for packet in batch { bytes += packet.body.readableBytes }
    }

    private mutating func updateConfiguration(_ batch: ArraySlice<MediaPacket>) {
        for packet in batch {
            if packet.isVideo { lastVideo = packet.timestamp }
            switch packet.content {
            case .metadata: metadata = packet
            case .videoConfiguration: videoConfiguration = packet
            case .audioConfiguration: audioConfiguration = packet
            case .video, .videoEnd, .audio: break
            }
        }
    }
}

/// The current GOP in one wire format, encoded only as far as a viewer needed it.
struct EncodedGOP {
    /// The maximum number of buffers sent to a joining viewer; with the preamble they fit into one system call.
    private static let maximumBuffers = 8

    private let wire: ViewerWireFormat
    /// The encoded GOP: one buffer per batch, shared with the viewers that received it live; many buffers are joined
    /// into one for a joining viewer.
    private(set) var buffers: [ByteBuffer] = []
    /// The total size of `buffers`.
    private(set) var byteCount = 0
    private var packetCount = 0
    private var cachedPreamble: ByteBuffer?

    init(_ wire: ViewerWireFormat) {
        self.wire = wire
    }

    /// Starts a new GOP.
    mutating func restart() {
        buffers.removeAll(keepingCapacity: true)
        byteCount = 0
        packetCount = 0
        cachedPreamble = nil
    }

    /// Appends the buffer of the GOP's last `packets` packets, if all packets before them are encoded too.
    mutating func append(_ buffer: ByteBuffer, packets: Int, of group: GOPCache) {
        guard packetCount + packets == group.packets.count else { return }
        buffers.append(buffer)
        byteCount += buffer.readableBytes
        packetCount += packets
    }

    /// Encodes the packets that are missing from `buffers`, and joins the buffers if they are too many.
    mutating func catchUp(with group: GOPCache) {
        defer { joinBuffers() }
        if packetCount > group.packets.count { restart() }
        guard packetCount < group.packets.count else { return }
        let rest = wire.encode(group.packets[packetCount...])
        buffers.append(rest)
        byteCount += rest.readableBytes
        packetCount = group.packets.count
    }

    /// Joins the buffers, because each one is an entry in the write queue of every joining viewer.
    private mutating func joinBuffers() {
        guard buffers.count > Self.maximumBuffers else { return }
        var whole = ByteBuffer()
        whole.reserveCapacity(byteCount)
        for buffer in buffers { whole.writeImmutableBuffer(buffer) }
        buffers.removeAll(keepingCapacity: true)
        buffers.append(whole)
    }

    /// Returns metadata and decoder configurations, stamped with the time at which the GOP starts.
    mutating func preamble(of group: GOPCache) -> ByteBuffer {
        if let cachedPreamble { return cachedPreamble }
        let start = group.packets.first?.timestamp
        let packets = group.preamble.map { packet in
            var packet = packet
            packet.timestamp = start ?? packet.timestamp
            return packet
        }
        let buffer = wire.encode(packets)
        cachedPreamble = buffer
        return buffer
    }
}
