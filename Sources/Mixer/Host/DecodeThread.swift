import Media
import Synchronization

/// One host's decoder on a thread of its own; nothing a host sends can hold up another.
///
/// Packets that come long before their turn wait for it coded, and the thread looks now and then. One that is due as it
/// comes, because the host's jitter target is small or it is late, wakes the thread.
struct DecodeThread: Sendable {
    /// The thread looks this often whether something is due; packets are decoded well before their turn.
    private static let period: Int64 = 20

    private let input: HostInput
    private let thread: WorkerThread

    init(_ input: HostInput) {
        self.input = input
        thread = WorkerThread(name: "decode \(input.id)") { Self.run(input) }
    }

    /// Ends the thread and waits for it; at most the time of a few packets.
    func stop() {
        input.close()
        thread.join()
    }

    private static func run(_ input: HostInput) {
        var decoder = HostDecoder()
        while !input.hasEnded {
            let started = MonotonicTime.now()
            while !input.hasEnded {
                let packet = input.takeDue(at: input.anchor.milliseconds(at: .now()))
                // Also without a packet: who stands still and is seen again has pictures that wait.
                input.instruct(&decoder, for: packet)
                guard packet != nil || decoder.isBehind else { break }
                input.beginWork()
                if let packet {
                    decoder.decode(packet, into: input.media)
                } else {
                    decoder.catchUp(into: input.media)
                }
                input.endWork()
            }
            let used = MonotonicSleep.threadSeconds()
            input.media.withLock { $0.threadSeconds = used }
            input.waitForWork(until: started.advanced(milliseconds: period))
        }
    }
}
