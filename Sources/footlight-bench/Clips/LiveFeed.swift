import Foundation
import Glibc
import Media
import Synchronization

/// Sends a clip round and round at the speed of a live stream, on a thread of its own.
///
/// Timestamps go on from round to round: packet times are those of the feed, in milliseconds since its start.
final class LiveFeed: Sendable {
    private let isStopped = Atomic(false)
    private let hasEnded = DispatchSemaphore(value: 0)

    /// Starts at once.
    ///
    /// - Parameter onPacket: Called on the feed's thread at each packet's time.
    init(_ clip: Clip, onPacket: @escaping @Sendable (MediaPacket) -> Void) throws {
        let packets = try clip.packets
        let length = Int64(clip.seconds) * 1000
        Thread.detachNewThread {
            self.run(packets, length: length, onPacket: onPacket)
            self.hasEnded.signal()
        }
    }

    /// Ends the feed, and returns when no packet comes any more; called once.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        hasEnded.wait()
    }

    private func run(_ packets: [MediaPacket], length: Int64, onPacket: (MediaPacket) -> Void) {
        let start = MonotonicTime.now()
        var round: Int64 = 0
        while true {
            for var packet in packets {
                if round > 0, packet.isConfiguration { continue }
                packet.timestamp += round * length
                sleepUntil(start.advanced(milliseconds: packet.timestamp))
                if isStopped.load(ordering: .relaxed) { return }
                onPacket(packet)
            }
            round += 1
        }
    }
}
