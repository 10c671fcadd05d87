import Media
import RTMP
import Synchronization

/// Packets that wait to be published, and what came of it.
final class PacketShelf: RTMPPublishSource {
    let started = Recorder<Bool>()
    let ends = Recorder<RTMPPublishEnd>()
    let bytes = Recorder<Int>()
    private let packets: Mutex<[MediaPacket]>

    init(_ packets: [MediaPacket] = []) {
        self.packets = Mutex(packets)
    }

    func put(_ packet: MediaPacket) {
        packets.withLock { $0.append(packet) }
    }

    var count: Int { packets.withLock { $0.count } }

    func publishingStarted() {
        started.append(true)
    }

    func nextPacket() -> MediaPacket? {
        packets.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }

    func wrote(bytes count: Int) {
        bytes.append(count)
    }

    func publishingEnded(_ end: RTMPPublishEnd) {
        ends.append(end)
    }
}
