import ArgumentParser
import Codecs
import Egress
import FootlightTesting
import Media
import NIOCore
import NIOPosix
import RTMP
import Stage

struct LatencyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latency",
        abstract: "From the moment in a host's picture to its arrival at a player of the program."
    )

    @Option(help: "Hosts on air, 1 to 12.")
    var hosts = 2

    @Option(help: "Seconds to measure, after the program has settled.")
    var seconds = 15

    @Option(help: "The room's jitter target in milliseconds.")
    var jitterTarget = 300

    @Option(help: "The footlight program; the one beside this program when left out.")
    var binary: String?

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await GatewayProcess(environment: ["FOOTLIGHT_LOG_LEVEL": "warning"], binary: binary)
        defer { gateway.end() }
        let room: JSONValue = ["unique_name": "bench", "program": ["jitter_target": .number(Double(jitterTarget))]]
        try expect(try await gateway.api("POST", "/v1/rooms", room), "the room")
        var onAir: [TimeCodeHost] = []
        for number in 0..<hosts {
            onAir.append(TimeCodeHost(address: try await place(for: "host-\(number)", at: gateway)))
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let program = ReceivedProgram()
        let player = RTMPPlayer(
            url: gateway.rtmpURL(room: "bench"),
            group: group,
            onPacket: { program.receive($0, arrival: $1) },
            onEnd: { _ in }
        )
        guard try await eventually(within: .seconds(10), { onAir.allSatisfy(\.isOnAir) }) else {
            throw ToolFailure("the hosts do not get on air", log: gateway.log)
        }
        player.start()
        guard try await eventually(within: .seconds(10), { program.pictureCount > 30 }) else {
            throw ToolFailure("no program comes", log: gateway.log)
        }
        // The hosts' places in time settle over their first seconds.
        try await Task.sleep(for: .seconds(4))
        let start = MonotonicTime.now()
        try await Task.sleep(for: .seconds(seconds))
        player.stop()
        let ownDelays = onAir.map(\.delays.median)
        for host in onAir { try host.stop() }
        gateway.end()
        try await group.shutdownGracefully()
        report(try program.ages(in: tiles, from: start), ownDelays)
    }

    private var tiles: [PixelRectangle] {
        let program = ProgramConfiguration()
        return GridLayout.rectangles(count: hosts, width: program.width, height: program.height).map {
            PixelRectangle(x: $0.x, y: $0.y, width: $0.width, height: $0.height)
        }
    }

    private func report(_ ages: PictureAges, _ ownDelays: [Double]) {
        print("\(hosts) hosts 720p30, jitter target \(jitterTarget) ms")
        print("from a host's picture to a player of the program, milliseconds\n")
        var table = Table("pictures", "median", "99 %", "largest", "repeated", "unread", "of it in the host")
        table.add([
            "\(ages.ages.values.count)",
            ages.ages.median.text(1),
            ages.ages.percentile(99).text(1),
            ages.ages.largest.text(1),
            "\(ages.repeated)",
            "\(ages.unread)",
            Samples(ownDelays).median.text(1),
        ])
        table.printOut()
    }

    private func place(for identity: String, at gateway: GatewayProcess) async throws -> PushAddress {
        let body: JSONValue = ["identity": .string(identity), "mode": "SEND_AND_RECV"]
        let reply = try await gateway.api("POST", "/v1/rooms/bench/participants", body)
        try expect(reply, "a host's place")
        let ingest = reply.json["ingest"]["rtmp"]
        guard let url = ingest["url"].string, let key = ingest["stream_key"].string else {
            throw ToolFailure("a host's place has no address", log: reply.text)
        }
        return try PushAddress(url: url, streamKey: key)
    }
}

/// Refuses an answer of the gateway that is no success.
func expect(_ reply: GatewayReply, _ what: String) throws {
    guard (200..<300).contains(reply.status) else {
        throw ToolFailure("\(what): HTTP \(reply.status)", log: reply.text)
    }
}
