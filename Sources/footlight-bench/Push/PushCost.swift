import Egress
import FootlightTesting
import Media
import Stage
import Synchronization

/// What one output costs the gateway: the processor time of its thread.
struct PushCost {
    struct Figures {
        /// Processor milliseconds per second.
        var milliseconds: Double
        /// Thousands of bits per second that were sent.
        var kilobits: Double
    }

    let seconds: Int

    func measure() async throws -> Figures {
        let clip = try await Clip.output(seconds: 10)
        let server = try await NginxRTMP(isRecording: false)
        let push = RTMPPush(
            name: "bench",
            address: try PushAddress(url: server.url, streamKey: "bench"),
            policy: TargetPolicy(allowsPrivateAddresses: true)
        )
        push.start()
        let feed = try LiveFeed(clip) { [push] in push.receive($0) }
        defer {
            feed.stop()
            push.stop()
            server.stop()
        }
        guard try await eventually(within: .seconds(10), { push.status.state == .connected }) else {
            throw ToolFailure("the output does not connect: \(push.status)")
        }
        let first = try await tick(push)
        try await Task.sleep(for: .seconds(seconds))
        let last = try await tick(push)
        guard push.status.droppedFrames == 0 else { throw ToolFailure("the output dropped packets: \(push.status)") }
        let span = last.moment.seconds(since: first.moment)
        return Figures(
            milliseconds: (last.used - first.used) * 1000 / span,
            kilobits: Double(last.bytes - first.bytes) * 8 / 1000 / span
        )
    }

    private struct Reading {
        var moment: MonotonicTime
        var used: Double
        var bytes: UInt64
    }

    /// The thread's account right after it was brought up to date, which happens once a second.
    private func tick(_ push: RTMPPush) async throws -> Reading {
        let before = push.cpuSeconds
        guard try await eventually(within: .seconds(5), every: .milliseconds(2), { push.cpuSeconds != before }) else {
            throw ToolFailure("the output's thread does not account for its time")
        }
        return Reading(moment: .now(), used: push.cpuSeconds, bytes: push.status.bytesSent)
    }
}
