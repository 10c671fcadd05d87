import Media
import Synchronization

/// Runs one host's decoder on its own thread, so that no host can block another.
///
/// Packets that arrive long before they are due wait undecoded, and the thread polls. A packet that is due on arrival,
/// because the jitter target is small or it is late, wakes the thread.
struct DecodeThread: Sendable {
    /// Milliseconds between two polls; packets are decoded well before their presentation.
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
                let packet = input.dequeueDuePacket(at: input.anchor.milliseconds(at: .now()))
                // Also without a packet: a static screen that becomes visible again has undecoded frames waiting.
                input.configure(&decoder, for: packet)
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

/// Detects a decode thread that does not finish a packet.
///
/// The monitor counts checks, not time: a process that was stopped, or that gets no processor time, checks as seldom as
/// it decodes. Its owner calls `check` twice a second.
struct DecodeStallMonitor {
    /// Consecutive checks that find a thread in the same packet before it counts as stalled: about five seconds.
    static let stallChecks = 10

    private var previous: [String: (work: UInt64, checks: Int)] = [:]

    /// - Parameter counters: Each input's `HostInput.work` with its id.
    /// - Returns: An input whose packet has been decoded for too long; reported once for that packet.
    mutating func check(_ counters: some Sequence<(id: String, work: UInt64)>) -> String? {
        var stalled: String?
        var present: [String: (work: UInt64, checks: Int)] = [:]
        for (id, work) in counters where HostInput.isWorking(work) {
            let checks = previous[id].map { $0.work == work ? $0.checks + 1 : 1 } ?? 1
            present[id] = (work, checks)
            if checks == Self.stallChecks { stalled = stalled ?? id }
        }
        previous = present
        return stalled
    }
}
