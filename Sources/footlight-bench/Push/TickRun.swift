import Egress
import FootlightTesting
import Media
import Mixer
import Stage
import Synchronization

/// A live program with one healthy output and, if wanted, one whose server stands still.
struct TickRun {
    let clips: [Clip]
    let seconds: Int
    let withStalledOutput: Bool

    /// When each picture came, minus its timestamp, in milliseconds.
    private final class Delays: Sendable {
        private let values = Mutex<[Double]>([])

        func note(_ packet: MediaPacket) {
            guard case .picture = packet.content else { return }
            let delay = Double(MonotonicTime.now().nanoseconds) / 1e6 - Double(packet.timestamp)
            values.withLock { $0.append(delay) }
        }

        func take() -> [Double] {
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
            delays.note(packet)
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
            // A stopped process does not die before it goes on.
            stalledServer.resume()
            stalledServer.stop()
            healthyServer.stop()
        }
        try await healthy.waitUntilConnected()
        if withStalledOutput {
            try await stalled.waitUntilConnected()
            stalledServer.pause()
        }
        // Past the beginning, when codecs and caches are cold.
        try await Task.sleep(for: .seconds(1))
        _ = delays.take()
        let before = mixer.statistics
        try await Task.sleep(for: .seconds(seconds))
        let after = mixer.statistics
        let raw = delays.take()
        let earliest = raw.min() ?? 0
        return TickFigures(
            late: Samples(raw.map { $0 - earliest }),
            latestWake: after.largestLateness,
            missed: after.lateTicks + after.skippedPictures - before.lateTicks - before.skippedPictures,
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
