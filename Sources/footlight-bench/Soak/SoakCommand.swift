import ArgumentParser
import Codecs
import Egress
import Foundation
import Media
import NIOCore
import NIOPosix
import TestSupport

struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "Runs a show of any duration, in which hosts join and leave and one output is faulty.",
        discussion: """
            Fails unless no viewer is disconnected or waits for a frame, the video changes and the audio never \
            stops, the good output loses nothing, no mixer is restarted, and memory stays as it was after the \
            first quarter.
            """
    )

    @Option(help: "Minutes.")
    var minutes = 30.0

    @Option(help: "Hosts, 2 to 12; all but the first join and leave.")
    var hosts = 4

    @Option(help: "Viewers of each kind: RTMP, HTTP-FLV, HLS.")
    var viewers = 3

    @Flag(help: "A program of 640x360, for a slow machine.")
    var small = false

    @Option(help: "Busy loops that compete for processor time from the show's first sixth to its half.")
    var steal = 0

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start()
        defer { gateway.end() }
        let smallProgram: JSONValue = ["width": 640, "height": 360, "preset": "ultrafast", "video_bitrate": 800]
        try await gateway.makeRoom("soak", small ? ["program": smallProgram] : [:])
        var show = try await SoakShow(hosts: hosts, room: "soak", gateway)
        try await show.tick(at: 0)
        try await gateway.waitUntilPlayable("soak")
        let outputs = try await SoakOutputs(room: "soak", gateway)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let audience = SoakAudience(viewers, room: "soak", gateway, group: group)
        var log = SoakLog(gateway: gateway, every: max(10, minutes * 60 / 30))
        var cpuLoad = SoakCPULoad(steal, of: minutes * 60, room: "soak", gateway)
        defer { cpuLoad.end() }
        let start = MonotonicTime.now()
        while MonotonicTime.now().seconds(since: start) < minutes * 60 {
            let second = MonotonicTime.now().seconds(since: start)
            try await cpuLoad.tick(at: second)
            try await show.tick(at: second)
            try await outputs.tick(at: second)
            try await log.tick(at: second, hosts: show.onAir, outputs, audience)
            try await Task.sleep(for: .seconds(1))
        }
        let rest = audience.faults + cpuLoad.faults + (try await outputs.faults(isStarved: steal > 0))
        var faults = log.faults(isStarved: steal > 0) + rest
        // Hosts without processor time send late, which is no fault of the show.
        if audience.audioMonitor.faults > 0, steal == 0 { faults.append("the audio stopped") }
        if steal == 0 { faults += audience.videoMonitor.faults(seconds: minutes * 60) }
        print(audience.audioMonitor.summary)
        print(audience.videoMonitor.summary)
        await audience.leave()
        show.end()
        gateway.end()
        try await group.shutdownGracefully()
        guard faults.isEmpty else {
            throw ToolFailure("the show had faults", log: faults.joined(separator: "\n"))
        }
        print("\nno viewer was disconnected, the good output lost nothing, memory stayed flat")
    }
}
