import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import NIOCore
import NIOPosix
import RTMP

struct StormCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "storm",
        abstract: "Thousands of viewers who come at once, and slow ones: what those see who were there before."
    )

    @Option(help: "Viewers who come.")
    var joins = 5_000

    @Option(help: "Seconds in which they come.")
    var within = 5.0

    @Option(help: "How they watch: rtmp, flv, hls, parted by commas.")
    var protocols = "rtmp,flv,hls"

    @Option(help: "Viewers who watch before.")
    var before = 200

    @Option(help: "Slow viewers who are there before, of each kind: never reading, a byte at a time, half open.")
    var slow = 0

    @Option(help: "Most viewers that the gateway lets in.")
    var limit = 20_000

    @Option(help: "Seconds for which all watch together, after the storm.")
    var seconds = 5

    @Option(help: "Kilobits a second of the stream.")
    var rate = 500

    @Option(help: "The gateway's tick in milliseconds.")
    var tick = 66

    @Option(help: "Event loops of the gateway.")
    var threads = 1

    @OptionGroup var program: GatewayProgram

    /// Viewers among those there before who note when each picture comes.
    private static let probes = 20

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let names = protocols.split(separator: ",").map(String.init)
        let playbacks = names.compactMap { MediaServer.Playback(rawValue: $0) }
        guard names.allSatisfy({ $0 == "hls" || MediaServer.Playback(rawValue: $0) != nil }) else {
            throw ValidationError("viewers come by rtmp, flv and hls")
        }
        guard !names.isEmpty, joins > 0, within > 0 else { throw ValidationError("nobody comes") }
        let clip = try await Clip.program(hasSound: false, seconds: 10, kilobits: rate)
        let gateway = try await program.start([
            "FOOTLIGHT_FANOUT_TICK": "\(tick)", "FOOTLIGHT_THREADS": "\(threads)",
            "FOOTLIGHT_FANOUT_VIEWERS": "\(limit)",
        ])
        let server = try await MediaServer(gateway, name: "Footlight")
        defer { server.end() }
        let stream = try await PublishedStream(clip, to: server)
        defer { stream.stop() }
        let ways = names.map { name in
            guard let playback = MediaServer.Playback(rawValue: name) else { return StormWay(hlsOf: server) }
            var server = server
            server.playback = playback
            return StormWay(server)
        }
        // Who watches before, and who is slow, is sent a stream.
        let servers = (playbacks.isEmpty ? [.rtmp] : playbacks).map { playback in
            var server = server
            server.playback = playback
            return server
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await storm(gateway, ways, servers, group)
            try await group.shutdownGracefully()
        } catch {
            try await group.shutdownGracefully()
            throw error
        }
    }

    private func storm(
        _ gateway: GatewayProcess,
        _ ways: [StormWay],
        _ servers: [MediaServer],
        _ group: MultiThreadedEventLoopGroup
    ) async throws {
        try await Task.sleep(for: .seconds(2))
        let crowd = try Crowd(of: before, watching: servers[0])
        defer { crowd.leave() }
        let probe = GapProbe(servers, count: Self.probes, group: group)
        defer { probe.stop() }
        try await Task.sleep(for: .seconds(2))
        _ = probe.takeLongest()
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
        func note(_ name: String) async throws {
            table.add(try await StormState(gateway).row(name, gap: probe.takeLongest()))
        }
        try await Task.sleep(for: .seconds(3))
        try await note("before")
        var sluggards: [SlowViewers] = []
        defer { for viewers in sluggards { viewers.leave() } }
        if slow > 0 {
            for (index, kind) in SlowViewers.Kind.allCases.enumerated() {
                sluggards.append(try SlowViewers(kind, count: slow, at: servers[index % servers.count]))
            }
            try await Task.sleep(for: .seconds(4))
            try await note("with slow ones")
        }
        let storm = Storm(of: joins, by: ways, within: within)
        guard try await eventually(within: .seconds(within + 15), { storm.isOver }) else {
            storm.leave()
            throw ToolFailure("the storm does not end", log: gateway.log)
        }
        try await note("storm")
        try await Task.sleep(for: .seconds(seconds))
        try await note("after it")
        if slow > 0 {
            // Those who take nothing are given fifteen seconds.
            try await Task.sleep(for: .seconds(18))
            try await note("slow ones gone")
        }
        let result = storm.result
        let counted = try await StormState(gateway).joins
        storm.leave()
        print("\(joins) viewers (\(protocols)) within \(within.text(1)) s, to a stream of \(rate) kb/s\n")
        let came = result.waits.values.reduce(0) { $0 + $1.values.count }
        print("first pictures a second: \((Double(came) / result.lasted).text(0))")
        for (name, waits) in result.waits.sorted(by: { $0.key < $1.key }) {
            print(
                "first key picture by \(name), ms: median \(waits.median.text(1)), 99 % \(waits.percentile(99).text(1)), "
                    + "last \(waits.largest.text(1)), of \(waits.values.count) viewers"
            )
        }
        print("counted as joined: \(counted)")
        print(
            "told that there is no room: \(result.refused); failed: \(result.failed); sent away later: \(result.closed)"
        )
        print("of those there before, sent away: \(probe.ended + crowd.received.closed)\n")
        table.printOut()
    }
}
