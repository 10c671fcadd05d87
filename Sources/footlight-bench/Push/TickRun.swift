import Egress
import Media
import Mixer
import Stage
import Synchronization
import TestSupport

/// Measures a live program with one healthy output and, optionally, one whose server is stopped.
struct TickRun {
    let clips: [Clip]
    let seconds: Int
    let withStalledOutput: Bool

    /// Arrival time minus timestamp of each frame, in milliseconds.
    private final class Delays: Sendable {
        private let values = Mutex<[Double]>([])

        func record(_ packet: MediaPacket) {
            guard case .video = packet.content else { return }
            let delay = Double(MonotonicTime.now().nanoseconds) / 1e6 - Double(packet.timestamp)
            values.withLock { $0.append(delay) }
        }

        func drain() -> [Double] {
            values.withLock { values in
                defer { values = [] }
                return values
            }
        }
    }

    func measure() async throws -> TickFigures {
        let healthyServer = try await NginxRTMP(isRecording: false)
        let stalledServer = try await NginxRTMP(isRecording: false)
        let healthy = try output(to: healthyServer)
        let stalled = try output(to: stalledServer)
        let delays = Delays()
        let isStalledUsed = withStalledOutput
        let mixer = try ProgramMixer(configuration: ProgramConfiguration()) { packet in
            delays.record(packet)
            healthy.receive(packet)
            if isStalledUsed { stalled.receive(packet) }
        }
        let feeds = try start(mixer)
        healthy.start()
        if withStalledOutput { stalled.start() }
        defer {
            for feed in feeds { feed.stop() }
            mixer.stop()
            healthy.stop()
            stalled.stop()
            // A stopped process does not terminate until it is resumed.
            stalledServer.resume()
            stalledServer.stop()
            healthyServer.stop()
        }
        try await healthy.waitUntilConnected()
        if withStalledOutput {
            try await stalled.waitUntilConnected()
            stalledServer.pause()
        }
        // After the start, when codecs and caches are cold.
        try await Task.sleep(for: .seconds(1))
        _ = delays.drain()
        let before = mixer.statistics
        try await Task.sleep(for: .seconds(seconds))
        let after = mixer.statistics
        let raw = delays.drain()
        let earliest = raw.min() ?? 0
        return TickFigures(
            late: Samples(raw.map { $0 - earliest }),
            latestWake: after.largestLateness,
            missed: after.lateTicks + after.skippedFrames - before.lateTicks - before.skippedFrames,
            dropped: stalled.status.droppedFrames
        )
    }

    private func output(to server: NginxRTMP) throws -> RTMPPush {
        RTMPPush(
            name: "bench",
            address: try PushAddress(url: server.url, streamKey: "bench"),
            policy: TargetPolicy(allowsPrivateAddresses: true),
            configuration: .output
        )
    }

    private func start(_ mixer: ProgramMixer) throws -> [LiveFeed] {
        let names = clips.indices.map { "host-\($0)" }
        mixer.apply(.grid(of: names, on: ProgramConfiguration()))
        mixer.start()
        return try zip(names, clips).map { name, clip in
            let input = mixer.addHost(name)
            return try LiveFeed(clip) { input.receive($0, arrival: .now()) }
        }
    }
}

/// The regularity of the frames from the mixer, in milliseconds.
struct TickFigures {
    /// The lateness of each frame relative to the earliest one, by its timestamp.
    var late = Samples()
    /// The largest lateness of the program thread's wake-ups.
    var latestWake = 0.0
    /// Frames skipped or repeated because a thread was late.
    var missed: Int64 = 0
    /// Packets that the stalled output dropped.
    var dropped: UInt64 = 0
}
