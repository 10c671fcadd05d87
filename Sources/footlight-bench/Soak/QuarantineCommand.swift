import ArgumentParser
import Codecs
import Egress
import FootlightTesting
import Glibc
import Media
import Mixer
import NIOCore
import NIOPosix
import TestSupport

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Kills a room's mixer each time it decodes one of two hosts, until that host is quarantined.",
        discussion: """
            Fails unless the gateway quarantines that host after three crashes and the other one never, no viewer is \
            disconnected, and the host is on air again once it is released.
            """
    )

    @OptionGroup var program: GatewayProgram

    private static let room = "quarantine"

    func run() async throws {
        CodecLibraries.quiet()
        EgressLibraries.initialise()
        let gateway = try await program.start()
        defer { gateway.end() }
        try await gateway.makeRoom(Self.room)
        let good = try await SoakHost("good", clip: 0, room: Self.room, gateway)
        let bad = try await SoakHost("bad", clip: 1, room: Self.room, gateway)
        try good.enter()
        try bad.enter()
        defer {
            good.leave()
            bad.leave()
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        guard try await areOnAir(["good", "bad"], gateway) else {
            throw ToolFailure("the hosts do not get on air", log: gateway.log)
        }
        let viewer = SoakPlayer(gateway.rtmpURL(room: Self.room), group: group)
        try await Task.sleep(for: .seconds(3))
        _ = viewer.drainLongestWait()

        var crashes = 0
        while try await !isQuarantined("bad", gateway) {
            guard crashes < 6 else { throw ToolFailure("six crashes, and no host is quarantined", log: gateway.log) }
            try await killMixer(decoding: bad.sid, but: good.sid, of: gateway)
            crashes += 1
            print("crash \(crashes) while the bad host was decoded")
            try await Task.sleep(for: .milliseconds(300))
        }
        print("after \(crashes) crashes the bad host is quarantined")
        bad.leave()
        guard try await eventually(within: .seconds(5), { !gateway.mixers(of: Self.room).isEmpty }) else {
            throw ToolFailure("no mixer is restarted", log: gateway.log)
        }
        let mixers = gateway.mixers(of: Self.room)
        try bad.enter()
        try await Task.sleep(for: .seconds(8))
        let isOut = try await isQuarantined("bad", gateway)
        guard isOut, gateway.mixers(of: Self.room) == mixers, crashes == 3 else {
            throw ToolFailure("the bad host is not quarantined, or another mixer crashed", log: gateway.log)
        }
        bad.leave()
        let path = "/v1/rooms/\(Self.room)/participants/bad/quarantine"
        try expect(try await gateway.api("DELETE", path), "the release")
        try bad.enter()
        let released = MonotonicTime.now()
        guard try await areOnAir(["good", "bad"], gateway) else {
            throw ToolFailure("the released host does not get on air", log: gateway.log)
        }
        print("released, it is on air after \(MonotonicTime.now().seconds(since: released).text(2)) s")
        let wait = viewer.drainLongestWait()
        let end = viewer.end
        viewer.stop()
        try await group.shutdownGracefully()
        if let end { throw ToolFailure("the viewer was disconnected: \(end)") }
        print("the viewer stayed connected, with at most \(wait.text(2)) s between frames")
    }

    /// Waits until the mixer decodes a packet of one host only, and kills it there.
    private func killMixer(decoding sid: String, but other: String, of gateway: GatewayProcess) async throws {
        let markers = "\(gateway.dataFolder)/mixer-\(Self.room).marks"
        let deadline = MonotonicTime.now().advanced(seconds: 30)
        while .now() < deadline {
            // Decoding a packet takes about a millisecond.
            for _ in 0..<1000 where DecodeMarkers.markedNames(in: markers) == [sid] {
                guard let mixer = gateway.mixers(of: Self.room).first else { break }
                kill(mixer, SIGSTOP)
                usleep(2000)
                if DecodeMarkers.markedNames(in: markers) == [sid] {
                    kill(mixer, SIGKILL)
                    return
                }
                kill(mixer, SIGCONT)
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ToolFailure("the mixer was never found decoding", log: gateway.log)
    }

    private func isQuarantined(_ identity: String, _ gateway: GatewayProcess) async throws -> Bool {
        let reply = try await gateway.api("GET", "/v1/rooms/\(Self.room)/participants/\(identity)")
        return reply.json["quarantined_until"].string != nil
    }

    /// Waits until the mixer decodes these hosts' cameras.
    private func areOnAir(_ identities: [String], _ gateway: GatewayProcess) async throws -> Bool {
        try await eventually(within: .seconds(20), every: .milliseconds(50)) {
            for identity in identities {
                let reply = try await gateway.api("GET", "/v1/rooms/\(Self.room)/participants/\(identity)")
                guard reply.json["is_camera_on"].bool == true else { return false }
            }
            return true
        }
    }
}
