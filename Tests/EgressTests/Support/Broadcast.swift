import Foundation
import Media
import Synchronization

@testable import Egress

/// Plays the sample in a loop, in real time, into any number of sinks, from a thread of its own.
final class Broadcast: Sendable {
    private struct State {
        var sinks: [any PacketSink] = []
        var isEnded = false
        var slowest = 0.0
    }

    private let state = Mutex(State())
    private let done = Latch(false)

    /// - Parameter rounds: How often the sample is played.
    init(_ packets: [MediaPacket], to sinks: [any PacketSink], rounds: Int = 100) {
        state.withLock { $0.sinks = sinks }
        Thread.detachNewThread { [self] in
            play(packets, rounds: rounds)
            done.update { $0 = true }
        }
    }

    /// Seconds that the slowest single `receive` took.
    var slowestReceive: Double { state.withLock { $0.slowest } }

    func end() {
        state.withLock { $0.isEnded = true }
        _ = done.wait(until: .now().advanced(seconds: 2)) { $0 ? true : nil }
    }

    func waitForEnd(seconds: Double) {
        _ = done.wait(until: .now().advanced(seconds: seconds)) { $0 ? true : nil }
    }

    private func play(_ packets: [MediaPacket], rounds: Int) {
        let start = MonotonicTime.now()
        let length = (packets.map { $0.timestamp }.max() ?? 0) + 33
        for round in 0..<rounds {
            for var packet in packets {
                if round > 0, packet.isConfiguration { continue }
                packet.timestamp += Int64(round) * length
                let wait = start.advanced(milliseconds: packet.timestamp).seconds(since: .now())
                if wait > 0 { Thread.sleep(forTimeInterval: wait) }
                guard let sinks = state.withLock({ $0.isEnded ? nil : $0.sinks }) else { return }
                for sink in sinks {
                    let before = MonotonicTime.now()
                    sink.receive(packet)
                    let took = MonotonicTime.now().seconds(since: before)
                    state.withLock { $0.slowest = max($0.slowest, took) }
                }
            }
        }
    }
}
