import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import NIOCore
import NIOPosix
import RTMP
import TestSupport

struct StormCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Measures the effect of thousands of simultaneous joins, and of slow viewers, on earlier viewers."
    )

    @Option(help: "Viewers that join.")
    var joins = 5_000

    @Option(help: "Seconds within which they join.")
    var within = 5.0

    @Option(help: "Protocols: rtmp, flv, hls, separated by commas.")
    var protocols = "rtmp,flv,hls"

    @Option(help: "Viewers before the storm.")
    var before = 200

    @Option(help: "Slow viewers before the storm, of each kind: never reading, a byte at a time, half open.")
    var slow = 0

    @Option(help: "The gateway's viewer limit.")
    var limit = 20_000

    @Option(help: "Seconds for which all watch after the storm.")
    var seconds = 5

    @Option(help: "Kilobits per second of the stream.")
    var rate = 500

    @Option(help: "The gateway's tick in milliseconds.")
    var tick = 66

    @Option(help: "Event loops of the gateway.")
    var threads = 1

    @OptionGroup var program: GatewayProgram

    /// The number of earlier viewers that measure the arrival of each frame.
    private static let probes = 20

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let names = protocols.split(separator: ",").map(String.init)
        let playbacks = names.compactMap { MediaServer.Playback(rawValue: $0) }
        guard names.allSatisfy({ $0 == "hls" || MediaServer.Playback(rawValue: $0) != nil }) else {
            throw ValidationError("protocols are rtmp, flv and hls")
        }
        guard !names.isEmpty, joins > 0, within > 0 else { throw ValidationError("there are no viewers") }
        let clip = try await Clip.program(hasAudio: false, seconds: 10, kilobits: rate)
        let gateway = try await program.start([
            "FOOTLIGHT_FANOUT_TICK": "\(tick)", "FOOTLIGHT_THREADS": "\(threads)",
            "FOOTLIGHT_FANOUT_VIEWERS": "\(limit)",
        ])
        let server = try await MediaServer(gateway, name: "Footlight")
        defer { server.end() }
        let stream = try await PublishedStream(clip, to: server)
        defer { stream.stop() }
        let methods = names.map { name in
            guard let playback = MediaServer.Playback(rawValue: name) else { return JoinMethod(hlsOf: server) }
            var server = server
            server.playback = playback
            return JoinMethod(server)
        }
        // Earlier viewers and slow ones play a stream, even if the storm comes by HLS.
        let servers = (playbacks.isEmpty ? [.rtmp] : playbacks).map { playback in
            var server = server
            server.playback = playback
            return server
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await storm(gateway, methods, servers, group)
            try await group.shutdownGracefully()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private func storm(
        _ gateway: GatewayProcess,
        _ methods: [JoinMethod],
        _ servers: [MediaServer],
        _ group: MultiThreadedEventLoopGroup
    ) async throws {
        try await Task.sleep(for: .seconds(2))
        let crowd = try Crowd(of: before, watching: servers[0])
        defer { crowd.leave() }
        let probe = GapProbe(servers, count: Self.probes, group: group)
        defer { probe.stop() }
        try await Task.sleep(for: .seconds(2))
        _ = probe.drainLongest()
        var table = Table(
            "",
            "longest gap, ms",
            "viewers",
            "RSS, MiB",
            "kernel for TCP, MiB",
            "cached, MiB",
            "queued, MiB",
            "skipped",
            "closed as slow",
            "refused"
        )
        func addRow(_ name: String) async throws {
            table.add(try await StormState(gateway).row(name, gap: probe.drainLongest()))
        }
        try await Task.sleep(for: .seconds(3))
        try await addRow("before")
        var slowViewers: [SlowViewers] = []
        defer { for viewers in slowViewers { viewers.leave() } }
        if slow > 0 {
            for (index, kind) in SlowViewers.Kind.allCases.enumerated() {
                slowViewers.append(try SlowViewers(kind, count: slow, at: servers[index % servers.count]))
            }
            try await Task.sleep(for: .seconds(4))
            try await addRow("with slow ones")
        }
        let storm = Storm(of: joins, by: methods, within: within)
        guard try await eventually(within: .seconds(within + 15), { storm.isOver }) else {
            storm.leave()
            throw ToolFailure("the storm does not end", log: gateway.log)
        }
        try await addRow("storm")
        try await Task.sleep(for: .seconds(seconds))
        try await addRow("after it")
        if slow > 0 {
            // The gateway closes viewers that read nothing after fifteen seconds.
            try await Task.sleep(for: .seconds(18))
            try await addRow("slow ones gone")
        }
        let result = storm.result
        let counted = try await StormState(gateway).joins
        storm.leave()
        print("\(joins) viewers (\(protocols)) within \(within.text(1)) s, to a stream of \(rate) kb/s\n")
        let joined = result.waits.values.reduce(0) { $0 + $1.values.count }
        print("first frames per second: \((Double(joined) / result.lasted).text(0))")
        for (name, waits) in result.waits.sorted(by: { $0.key < $1.key }) {
            print(
                "first keyframe by \(name), ms: median \(waits.median.text(1)), 99 % \(waits.percentile(99).text(1)), "
                    + "last \(waits.largest.text(1)), of \(waits.values.count) viewers"
            )
        }
        print("counted as joined: \(counted)")
        print(
            "refused for lack of capacity: \(result.refused); failed: \(result.failed); "
                + "disconnected later: \(result.closed)"
        )
        print("earlier viewers disconnected: \(probe.ended + crowd.received.closed)\n")
        table.printOut()
    }
}
