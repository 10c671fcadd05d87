@testable import FanOut
import FootlightTesting
import Foundation
import Media
@testable import Gateway
import Stage
import Testing
import Viewership

@Suite("An nginx with a cache in front of the gateway", .serialized, .timeLimit(.minutes(1)))
struct NginxAudienceTests {
    private static let room = "show"
    private static let size = 500
    /// Of these, who play by parts.
    private static let lowLatency = 100
    /// Of these, who are in Germany; the others are in France.
    private static let german = 300
    /// How many ask at the same time.
    private static let lanes = 8

    @Test(
        """
        G1 G2 500 players behind a shared cache are 500, each once, while few of their requests reach us; nginx may start \
        anew, and datagrams may be lost
        """
    )
    func crowd() async throws {
        let regions = RegionFile.bytes([(127, 10, "DE"), (127, 20, "FR")])
        let gateway = try await WiredGateway(TemporaryFolder("nginx-audience"), regions: regions)
        do {
            try await play(to: gateway)
        } catch {
            try? await gateway.end()
            throw error
        }
        try await gateway.end()
    }

    private func play(to gateway: WiredGateway) async throws {
        _ = try gateway.pipeline.stage.create(RoomSettings(name: Self.room))
        var program = try await EndlessProgram(room: Self.room, on: gateway)
        let isPlayable = try await eventually(every: .milliseconds(50)) {
            try await program.goOn()
            return gateway.pipeline.playlists.status(room: Self.room).state == .playable
        }
        #expect(isPlayable)
        let relay = try await BeatRelay(to: gateway.beatsPort, group: gateway.group)
        let nginx = try await NginxCache(gatewayPort: gateway.httpPort, beatsPort: relay.port)
        let crowd = VirtualCrowd(
            (0..<Self.size).map { number in
                let network = number < Self.german ? 10 : 20
                return VirtualPlayer(
                    port: nginx.port,
                    room: Self.room,
                    from: "127.\(network).\(number / 250).\(1 + number % 250)",
                    isLowLatency: number < Self.lowLatency
                )
            },
            lanes: Self.lanes
        )
        var passer = VirtualPlayer(port: nginx.port, room: Self.room, isLowLatency: false)
        try passer.begin()
        var asked = 0
        let began = gateway.clock.now

        /// Everybody asks once more, and each of the lines has come.
        func turn(after seconds: Double, _ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws
        {
            gateway.clock.putForward(seconds: seconds)
            try await program.goOn()
            try await crowd.each(body)
            asked += Self.size
            #expect(try await eventually { relay.passed.lines == asked }, "\(relay.passed)")
        }
        func settled(_ rule: (RoomViewership) -> Bool) async throws -> RoomViewership {
            _ = try await eventually { rule(gateway.report(Self.room)) }
            return gateway.report(Self.room)
        }

        // Who has asked once only may be anybody.
        try await turn(after: 0) { try $0.join() }
        #expect(gateway.report(Self.room).concurrent == 0)
        try await turn(after: 2.1) { _ = try $0.poll() }
        var report = try await settled { $0.concurrent == Self.size && $0.byProtocol[.llhls] == Self.lowLatency }
        expectEverybody(report)
        #expect(report.byProtocol[.hls] == Self.size - Self.lowLatency, "\(report.byProtocol)")
        #expect(report.byProtocol[.llhls] == Self.lowLatency, "\(report.byProtocol)")
        #expect(report.byClient[.tool] == Self.size, "\(report.byClient)")
        // By where they come from, and by nothing they say.
        #expect(report.byRegion == ["DE": Self.german, "FR": Self.size - Self.german], "\(report.byRegion)")
        #expect(report.uniques.estimated == Self.size, "\(report.uniques)")
        try logIn(through: nginx, to: gateway)

        // Who waits for what is being made waits at the gateway, all of them, and none for the lock of the cache.
        async let waits: Void = crowd.together { try $0.waitForMore(byPart: false) }
        let areWaiting = try await eventually { gateway.pipeline.site.waits.count == Self.lanes }
        #expect(areWaiting, "\(gateway.pipeline.site.waits.count)")
        try await program.goOn()
        try await waits
        asked += Self.lanes
        _ = try await eventually { relay.passed.lines == asked }
        try await turn(after: 0) { _ = try $0.poll() }
        async let parts: Void = crowd.together { try $0.waitForMore(byPart: true) }
        let areExpecting = try await eventually {
            gateway.pipeline.site.waits.count == Self.lanes
        }
        #expect(areExpecting, "\(gateway.pipeline.site.waits.count)")
        try await program.goOn()
        try await parts

        // Who never watches is in no line: those of the others come each time, and no more.
        for _ in 0..<2 {
            try passer.pretend()
            try await turn(after: 2.1) { _ = try $0.poll() }
        }
        expectEverybody(try await settled { _ in true })

        // Another nginx, which has nothing in its memory and no connection.
        nginx.stop()
        try await nginx.start()
        try await turn(after: 2.1) { _ = try $0.poll() }
        expectEverybody(try await settled { _ in true })

        // A third of all lines goes astray, then every line, for less than the shortest time-out.
        relay.lose(oneIn: 3)
        for _ in 0..<3 { try await turn(after: 1) { _ = try $0.poll() } }
        expectEverybody(try await settled { _ in true })
        relay.lose(oneIn: nil)
        try await turn(after: 1) { _ = try $0.poll() }
        relay.lose(oneIn: 1)
        for _ in 0..<3 { try await turn(after: 1) { _ = try $0.poll() } }
        expectEverybody(try await settled { _ in true })

        // Lost for longer, they are gone, and back with their next lines; nobody has joined a second time.
        let watched = gateway.clock.now.seconds(since: began)
        gateway.clock.putForward(seconds: 14)
        report = try await settled { $0.concurrent == 0 }
        #expect(report.concurrent == 0 && report.joins == Self.size && report.leaves == 0, "\(report)")
        relay.lose(oneIn: nil)
        try await turn(after: 0) { _ = try $0.poll() }
        expectEverybody(try await settled { $0.concurrent == Self.size })

        // The cache answers whoever asks; what counts is only an id that was signed here.
        let forged = String(repeating: "A", count: 32)
        try await turn(after: 0) { try $0.ask(sid: forged) }
        expectEverybody(try await settled { _ in true })
        let isRefused = try await eventually {
            let metrics = gateway.pipeline.viewership.metrics()
            let samples = metrics.first { $0.name == "footlight_beats_rejected_total" }?.samples ?? []
            return samples.first { $0.labels.first?.value == "mac" }?.value == Double(Self.size)
        }
        #expect(isRefused)

        let passed = relay.passed
        print("lines of nginx:", passed.lines, "lost:", passed.lost, "by cache:", passed.byCache)
        #expect(passed.lost >= 4 * Self.size && passed.reachedGateway < passed.lines / 20, "\(passed)")

        // They go without a word, and are gone for good once none can come back any more.
        try await crowd.each { $0.leave() }
        passer.leave()
        gateway.clock.putForward(seconds: 12.5)
        report = try await settled { $0.concurrent == 0 }
        #expect(report.concurrent == 0 && report.joins == Self.size && report.peak == Self.size, "\(report)")
        gateway.clock.putForward(seconds: 31)
        report = try await settled { $0.leaves == Self.size }
        #expect(report.leaves == Self.size && report.resumable == 0, "\(report)")
        expectWatchTime(report, watched)

        nginx.stop()
        try await relay.close()
    }

    /// Logs in through nginx at a port of its own, tries too often, and sends what is large.
    private func logIn(through nginx: NginxCache, to gateway: WiredGateway) throws {
        let path = "/dashboard/session"
        func caller(_ address: String) -> VirtualPlayer {
            VirtualPlayer(port: nginx.port, room: Self.room, from: address, isLowLatency: false)
        }
        var guesser = caller("127.30.0.1")
        let tries = try (0..<7).map { try guesser.post(path, #"{"token":"guess \#($0)"}"#, said: "203.0.113.\($0)") }
        #expect(tries == [401, 401, 401, 401, 401, 429, 429], "\(tries)")
        var owner = caller("127.30.0.2")
        let entry = try owner.post(path, #"{"token":"\#(gateway.token)"}"#)
        // One line: what is large is to come through, and costs no time.
        let receipt = try owner.post("/v1/cdn-logs", String(repeating: "x", count: 2 << 20), token: gateway.token)
        #expect(entry == 200 && receipt == 400, "\(entry) \(receipt)")
        guesser.leave()
        owner.leave()
    }

    /// All are there, each once, whatever they are told apart by.
    private func expectEverybody(_ report: RoomViewership, at location: SourceLocation = #_sourceLocation) {
        #expect(report.concurrent == Self.size, "\(report)", sourceLocation: location)
        #expect(report.joins == Self.size && report.peak == Self.size, "\(report)", sourceLocation: location)
        for counts in [report.byRegion, report.byRendition] {
            #expect(counts.values.reduce(0, +) == Self.size, "\(counts)", sourceLocation: location)
        }
        #expect(report.byProtocol.values.reduce(0, +) == Self.size, sourceLocation: location)
    }

    /// From the first playlist to the one before the long silence, and a little around it.
    private func expectWatchTime(_ report: RoomViewership, _ watched: Double) {
        let each = report.watchTimeSeconds / Double(Self.size)
        print("watched by each player, in seconds:", each, "of", watched)
        #expect(each > 8 && each < watched + 6, "\(report)")
    }
}
