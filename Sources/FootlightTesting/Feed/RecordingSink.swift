public import Media
import Synchronization

/// A sink that keeps every packet it is given, in order.
public final class RecordingSink: PacketSink {
    private let kept = Mutex<[MediaPacket]>([])

    /// An empty sink.
    public init() {}

    /// Keeps one packet.
    public func receive(_ packet: MediaPacket) {
        kept.withLock { $0.append(packet) }
    }

    /// All packets so far, in the order of arrival.
    public var packets: [MediaPacket] { kept.withLock { $0 } }

    /// How many packets have arrived.
    public var count: Int { kept.withLock { $0.count } }

    /// The packets so far, which are then forgotten.
    public func drain() -> [MediaPacket] {
        kept.withLock { packets in
            defer { packets = [] }
            return packets
        }
    }
}
