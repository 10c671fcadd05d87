import ArgumentParser
import Codecs
import Egress
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage
import TestSupport

struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "Measures the delay from a host's capture to the frame's arrival at a player of the program."
    )

    @Option(help: "Hosts on air, 1 to 12.")
    var hosts = 2

    @Option(help: "Seconds to measure.")
    var seconds = 15

    @Option(help: "Seconds before that, in which the hosts' offsets settle.")
    var settle = 18

    @Option(help: "The room's jitter target in milliseconds.")
    var jitterTarget = 300

    @Option(help: "The hosts' audio: live, encoded as from a microphone; or file, sent with its video.")
    var sound = TimeCodeHost.AudioMode.live

    @Option(help: "The gateway's fanout.tick in milliseconds; by default its own.")
    var tick: Int?

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start(tick.map { ["FOOTLIGHT_FANOUT_TICK": "\($0)"] } ?? [:])
        defer { gateway.end() }
        try await gateway.makeRoom("bench", ["program": ["jitter_target": .number(Double(jitterTarget))]])
        var onAir: [TimeCodeHost] = []
        var sids: [String] = []
        for number in 0..<hosts {
            let (address, sid) = try await gateway.makeHost(for: "host-\(number)", in: "bench")
            onAir.append(TimeCodeHost(address: address, audioMode: sound))
            sids.append(sid)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let (program, feed) = (ReceivedProgram(), ReceivedProgram())
        let player = RTMPPlayer(
            url: gateway.rtmpURL(room: "bench"),
            group: group,
            onPacket: { program.receive($0, arrival: $1) },
            onEnd: { _ in }
        )
        // The feed that the mixer reads from the first host.
        let token = try MixerToken.issue(dataFolder: gateway.dataFolder, room: "bench", epoch: 1)
        let reader = RTMPPlayer(
            url: "rtmp://127.0.0.1:\(gateway.endpoints.rtmpPort)/live/bench.host.\(sids[0])?token=\(token)",
            group: group,
            onPacket: { feed.receive($0, arrival: $1) },
            onEnd: { _ in }
        )
        guard try await eventually(within: .seconds(10), { onAir.allSatisfy(\.isOnAir) }) else {
            throw ToolFailure("the hosts do not get on air", log: gateway.log)
        }
        player.start()
        reader.start()
        guard try await eventually(within: .seconds(10), { program.frameCount > 30 }) else {
            throw ToolFailure("no program is published", log: gateway.log)
        }
        try await Task.sleep(for: .seconds(settle))
        let start = MonotonicTime.now()
        try await Task.sleep(for: .seconds(seconds))
        let sync = try await gateway.api("GET", "/v1/rooms/bench/participants/host-0").json["sync"]
        player.stop()
        reader.stop()
        let ownDelays = onAir.map(\.delays.median)
        for host in onAir { try host.stop() }
        gateway.end()
        try await group.shutdownGracefully()
        let whole = PixelRectangle(x: 0, y: 0, width: 1280, height: 720)
        let feedAges = try feed.ages(in: [whole], sent: [onAir[0].sent], from: start)
        report(try program.ages(in: tiles, sent: onAir.map(\.sent), from: start), feedAges, ownDelays, sync)
    }

    private var tiles: [PixelRectangle] {
        let program = ProgramConfiguration()
        return GridLayout.rectangles(count: hosts, width: program.width, height: program.height).map {
            PixelRectangle(x: $0.x, y: $0.y, width: $0.width, height: $0.height)
        }
    }

    private func report(_ ages: [FrameAges], _ feed: [FrameAges], _ ownDelays: [Double], _ sync: JSONValue) {
        print("\(hosts) hosts 720p30, \(sound) audio, jitter target \(jitterTarget) ms")
        print("to a player of the program by RTMP, milliseconds\n")
        var table = Table("from", "frames", "median", "99 %", "largest")
        for (name, samples) in [
            ("a host's capture", Samples(ages.flatMap(\.ages.values))),
            ("when the host had sent the frame and its audio", Samples(ages.flatMap(\.added.values))),
        ] {
            table.add([
                name,
                "\(samples.values.count)",
                samples.median.text(1),
                samples.percentile(99).text(1),
                samples.largest.text(1),
            ])
        }
        table.printOut()
        print(
            "\nframes repeated: \(ages.reduce(0) { $0 + $1.repeated }), unread: \(ages.reduce(0) { $0 + $1.unread });",
            "by host from its capture: \(ages.map { $0.ages.median.text(0) }.joined(separator: ", "))\n\nstages:",
            "encoding and interleaving by the host \(Samples(ownDelays).median.text(1)),",
            "from there to the mixer \(Samples(feed.flatMap(\.added.values)).median.text(1)),",
            "buffered there, as the gateway reports, \((sync["buffer_ms"].double ?? 0).text(1));",
            "the rest is waiting for the audio, encoding, and delivery by the gateway"
        )
    }
}
