import Egress
import FootlightTesting
import Media
import Stage
import Synchronization
import TestSupport

/// Measures what one output costs the gateway: the processor time of its thread.
struct PushCost {
    struct Figures {
        /// Processor milliseconds per second of media.
        var milliseconds: Double
        /// Thousands of bits per second of media.
        var kilobits: Double
    }

    let seconds: Int
    var configuration = PushConfiguration.output

    /// Measures with each packet sent at its time, as in a live program.
    func live() async throws -> Figures {
        try await withConnectedPush { push, clip in
            let feed = try LiveFeed(clip) { push.receive($0) }
            defer { feed.stop() }
            try await push.waitUntilConnected()
            let first = try await nextReading(push)
            try await Task.sleep(for: .seconds(seconds))
            let last = try await nextReading(push)
            return figures(first, last, media: last.moment.seconds(since: first.moment))
        }
    }

    /// Measures at twenty times the speed: the work of sending alone, without the system's cost of thirty wake-ups a
    /// second.
    func accelerated() async throws -> Figures {
        try await withConnectedPush { push, clip in
            let speed: Int64 = 20
            let packets = try clip.packets
            for packet in packets.prefix(30) { push.receive(packet) }
            try await push.waitUntilConnected()
            let first = try await nextReading(push)
            let start = MonotonicTime.now()
            let rounds = Int64(max(seconds * Int(speed) / clip.seconds, 1))
            for round in 1...rounds {
                // Batches of a fifth of a second of media, well below the level at which the queue drops.
                var batch: Int64 = 0
                for var packet in packets where !packet.isConfiguration {
                    packet.timestamp += round * Int64(clip.seconds) * 1000
                    if packet.timestamp / 200 != batch {
                        batch = packet.timestamp / 200
                        let due = start.advanced(milliseconds: (batch - Int64(clip.seconds) * 5) * 200 / speed)
                        let wait = due.seconds(since: .now())
                        if wait > 0 { try await Task.sleep(for: .seconds(wait)) }
                    }
                    push.receive(packet)
                }
            }
            guard try await eventually(within: .seconds(5), { push.backlog.packets == 0 }) else {
                throw ToolFailure("the output does not keep up: \(push.status)")
            }
            let settled = try await nextReading(push)
            return figures(first, settled, media: Double(rounds) * Double(clip.seconds))
        }
    }

    private func figures(_ first: Reading, _ last: Reading, media: Double) -> Figures {
        Figures(
            milliseconds: (last.used - first.used) * 1000 / media,
            kilobits: Double(last.bytes - first.bytes) * 8 / 1000 / media
        )
    }

    private func withConnectedPush(
        _ body: (RTMPPush, Clip) async throws -> Figures
    ) async throws -> Figures {
        let clip = try await Clip.output(seconds: 10)
        let server = try await NginxRTMP(isRecording: false)
        defer { server.stop() }
        let push = RTMPPush(
            name: "bench",
            address: try PushAddress(url: server.url, streamKey: "bench"),
            policy: TargetPolicy(allowsPrivateAddresses: true),
            configuration: configuration
        )
        push.start()
        defer { push.stop() }
        let figures = try await body(push, clip)
        guard push.status.droppedFrames == 0 else { throw ToolFailure("the output dropped packets: \(push.status)") }
        return figures
    }

    private struct Reading {
        var moment: MonotonicTime
        var used: Double
        var bytes: UInt64
    }

    /// Returns the thread's processor time right after its update, which happens once a second.
    private func nextReading(_ push: RTMPPush) async throws -> Reading {
        let before = push.cpuSeconds
        guard try await eventually(within: .seconds(5), every: .milliseconds(2), { push.cpuSeconds != before }) else {
            throw ToolFailure("the output's thread does not update its processor time")
        }
        return Reading(moment: .now(), used: push.cpuSeconds, bytes: push.status.bytesSent)
    }
}
