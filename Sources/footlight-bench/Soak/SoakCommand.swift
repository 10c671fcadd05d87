import ArgumentParser
import Codecs
import Egress
import FootlightTesting
import Foundation
import Media
import NIOCore
import NIOPosix

struct SoakCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "soak",
        abstract: "A whole show for as long as one likes: hosts come and go, one output is bad, people watch.",
        discussion: """
            Fails unless nobody who watches is ever let go or waits for a picture, the pictures move and the sound never \
            breaks off, the good output loses nothing, no mixer is started again, and memory stays as it was after the \
            first quarter.
            """
    )

    @Option(help: "Minutes.")
    var minutes = 30.0

    @Option(help: "Hosts, 2 to 12; all but the first come and go.")
    var hosts = 4

    @Option(help: "Viewers of each kind: RTMP, HTTP-FLV, HLS.")
    var viewers = 3

    @Flag(help: "A program of 640x360, for a machine that is short of time.")
    var small = false

    @Option(help: "Busy loops beside the show from its first sixth to its half, which take its processor time away.")
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
        var thief = SoakThief(steal, of: minutes * 60, room: "soak", gateway)
        defer { thief.end() }
        let start = MonotonicTime.now()
        while MonotonicTime.now().seconds(since: start) < minutes * 60 {
            let second = MonotonicTime.now().seconds(since: start)
            try await thief.tick(at: second)
            try await show.tick(at: second)
            try await outputs.tick(at: second)
            try await log.tick(at: second, hosts: show.onAir, outputs, audience)
            try await Task.sleep(for: .seconds(1))
        }
        let rest = audience.faults + thief.faults + (try await outputs.faults(isStarved: steal > 0))
        var faults = log.faults(isStarved: steal > 0) + rest
        // Hosts that get no time do not send in time, which is no fault of the show.
        if audience.ear.faults > 0, steal == 0 { faults.append("the sound broke off") }
        if steal == 0 { faults += audience.eye.faults(seconds: minutes * 60) }
        print(audience.ear.summary)
        print(audience.eye.summary)
        await audience.leave()
        show.end()
        gateway.end()
        try await group.shutdownGracefully()
        guard faults.isEmpty else {
            throw ToolFailure("the show was not without a fault", log: faults.joined(separator: "\n"))
        }
        print("\nnobody who watched was let go, the good output lost nothing, memory stayed flat")
    }
}
