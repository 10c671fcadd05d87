public import Media
import Synchronization

/// A packet sink that stores every packet in order.
public final class RecordingSink: PacketSink {
    private let storage = Mutex<[MediaPacket]>([])

    /// Creates an empty sink.
    public init() {}

    /// Stores a packet.
    public func receive(_ packet: MediaPacket) {
        storage.withLock { $0.append(packet) }
    }

    /// The packets so far, in order of arrival.
    public var packets: [MediaPacket] { storage.withLock { $0 } }

    /// The number of packets so far.
    public var count: Int { storage.withLock { $0.count } }

    /// Removes and returns the packets so far.
    public func drain() -> [MediaPacket] {
        storage.withLock { packets in
            defer { packets = [] }
            return packets
        }
    }
}
