import ArgumentParser
import Codecs
import Egress
import FootlightTesting
import Glibc
import Media
import Mixer
import NIOCore
import NIOPosix

struct QuarantineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quarantine",
        abstract: "Kills a room's mixer each time it decodes one of two hosts, until that host is kept out.",
        discussion: """
            Fails unless the gateway keeps that host out after three deaths and the other one never, nobody who watches \
            is let go, and the host is on air again once it is released.
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
        guard try await areSeen(["good", "bad"], gateway) else {
            throw ToolFailure("the hosts do not get on air", log: gateway.log)
        }
        let viewer = SoakPlayer(gateway.rtmpURL(room: Self.room), group: group)
        try await Task.sleep(for: .seconds(3))
        _ = viewer.takeLongestWait()

        var deaths = 0
        while try await !isKeptOut("bad", gateway) {
            guard deaths < 6 else { throw ToolFailure("six deaths, and nobody is kept out", log: gateway.log) }
            try await killMixer(decoding: bad.sid, but: good.sid, of: gateway)
            deaths += 1
            print("death \(deaths) while the bad host was decoded")
            try await Task.sleep(for: .milliseconds(300))
        }
        print("after \(deaths) deaths the bad host is kept out")
        bad.leave()
        guard try await eventually(within: .seconds(5), { !gateway.mixers(of: Self.room).isEmpty }) else {
            throw ToolFailure("no mixer comes back", log: gateway.log)
        }
        let mixers = gateway.mixers(of: Self.room)
        try bad.enter()
        try await Task.sleep(for: .seconds(8))
        let isOut = try await isKeptOut("bad", gateway)
        guard isOut, gateway.mixers(of: Self.room) == mixers, deaths == 3 else {
            throw ToolFailure("the bad host is not kept out, or another mixer died", log: gateway.log)
        }
        bad.leave()
        let path = "/v1/rooms/\(Self.room)/participants/bad/quarantine"
        try expect(try await gateway.api("DELETE", path), "the release")
        try bad.enter()
        let released = MonotonicTime.now()
        guard try await areSeen(["good", "bad"], gateway) else {
            throw ToolFailure("the released host does not get on air", log: gateway.log)
        }
        print("released, it is on air after \(MonotonicTime.now().seconds(since: released).text(2)) s")
        let wait = viewer.takeLongestWait()
        let end = viewer.end
        viewer.stop()
        try await group.shutdownGracefully()
        if let end { throw ToolFailure("the viewer was let go: \(end)") }
        print("the viewer stayed, and waited \(wait.text(2)) s for a picture at most")
    }

    /// Waits until the mixer is found in the middle of a packet of one host and of nobody else's, and kills it there.
    private func killMixer(decoding sid: String, but other: String, of gateway: GatewayProcess) async throws {
        let marks = "\(gateway.dataFolder)/mixer-\(Self.room).marks"
        let deadline = MonotonicTime.now().advanced(seconds: 30)
        while .now() < deadline {
            // Decoding a packet takes a millisecond or so.
            for _ in 0..<1000 where WorkMarks.marked(in: marks) == [sid] {
                guard let mixer = gateway.mixers(of: Self.room).first else { break }
                kill(mixer, SIGSTOP)
                usleep(2000)
                if WorkMarks.marked(in: marks) == [sid] {
                    kill(mixer, SIGKILL)
                    return
                }
                kill(mixer, SIGCONT)
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ToolFailure("the mixer was never found decoding", log: gateway.log)
    }

    private func isKeptOut(_ identity: String, _ gateway: GatewayProcess) async throws -> Bool {
        let reply = try await gateway.api("GET", "/v1/rooms/\(Self.room)/participants/\(identity)")
        return reply.json["quarantined_until"].string != nil
    }

    /// Waits until the mixer decodes these hosts' cameras.
    private func areSeen(_ identities: [String], _ gateway: GatewayProcess) async throws -> Bool {
        try await eventually(within: .seconds(20), every: .milliseconds(50)) {
            for identity in identities {
                let reply = try await gateway.api("GET", "/v1/rooms/\(Self.room)/participants/\(identity)")
                guard reply.json["is_camera_on"].bool == true else { return false }
            }
            return true
        }
    }
}
