@testable import FanOut
import FootlightTesting
import Foundation
import Media
@testable import Gateway
import Stage
import TestSupport
import Testing
import Viewership

@Suite("nginx with a cache in front of the gateway", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(1)))
struct NginxCacheTests {
    private static let room = "show"
    private static let size = 500
    /// The players with low latency.
    private static let lowLatency = 100
    /// The players in Germany; the others are in France.
    private static let german = 300
    /// The number of concurrent requests.
    private static let workers = 8

    @Test(
        "G1 G2 counts 500 players behind a shared cache once each, also after an nginx restart and with lost datagrams"
    )
    func crowd() async throws {
        let regions = RegionFile.bytes([(127, 10, "DE"), (127, 20, "FR")])
        let gateway = try await InProcessGateway(TemporaryFolder("nginx-audience"), regions: regions)
        do {
            try await play(to: gateway)
        } catch {
            try? await gateway.end()
            throw error
        }
        try await gateway.end()
    }

    private func play(to gateway: InProcessGateway) async throws {
        _ = try gateway.pipeline.stage.create(RoomSettings(name: Self.room))
        var program = try await LoopedProgram(room: Self.room, on: gateway)
        let isPlayable = try await eventually(every: .milliseconds(50)) {
            try await program.publishNext()
            return gateway.pipeline.playlists.status(room: Self.room).state == .playable
        }
        #expect(isPlayable)
        let relay = try await SyslogRelay(to: gateway.accessLogPort, group: gateway.group)
        let nginx = try await NginxCache(gatewayPort: gateway.httpPort, accessLogPort: relay.port)
        let crowd = VirtualPlayerPool(
            (0..<Self.size).map { number in
                let network = number < Self.german ? 10 : 20
                return VirtualPlayer(
                    port: nginx.port,
                    room: Self.room,
                    from: "127.\(network).\(number / 250).\(1 + number % 250)",
                    isLowLatency: number < Self.lowLatency
                )
            },
            workers: Self.workers
        )
        var passer = VirtualPlayer(port: nginx.port, room: Self.room, isLowLatency: false)
        try passer.begin()
        var asked = 0
        let began = gateway.clock.now

        /// Polls once with every player, and waits for all access log lines.
        func turn(after seconds: Double, _ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws
        {
            gateway.clock.advance(seconds: seconds)
            try await program.publishNext()
            try await crowd.each(body)
            asked += Self.size
            #expect(try await eventually { relay.passed.lines == asked }, "\(relay.passed)")
        }
        func settled(_ rule: (RoomViewership) -> Bool) async throws -> RoomViewership {
            _ = try await eventually { rule(gateway.report(Self.room)) }
            return gateway.report(Self.room)
        }

        // One request does not prove a viewer.
        try await turn(after: 0) { try $0.join() }
        #expect(gateway.report(Self.room).concurrent == 0)
        try await turn(after: 2.1) { _ = try $0.poll() }
        var report = try await settled { $0.concurrent == Self.size && $0.byProtocol[.llhls] == Self.lowLatency }
        expectEverybody(report)
        #expect(report.byProtocol[.hls] == Self.size - Self.lowLatency, "\(report.byProtocol)")
        #expect(report.byProtocol[.llhls] == Self.lowLatency, "\(report.byProtocol)")
        #expect(report.byClient[.tool] == Self.size, "\(report.byClient)")
        // The region follows the client address only.
        #expect(report.byRegion == ["DE": Self.german, "FR": Self.size - Self.german], "\(report.byRegion)")
        #expect(report.uniques.estimated == Self.size, "\(report.uniques)")
        try logIn(through: nginx, to: gateway)

        // Every blocking request waits at the gateway, and none for the lock of the cache.
        async let waits: Void = crowd.together { try $0.waitForMore(byPart: false) }
        let areWaiting = try await eventually { gateway.pipeline.service.waits.count == Self.workers }
        #expect(areWaiting, "\(gateway.pipeline.service.waits.count)")
        try await program.publishNext()
        try await waits
        asked += Self.workers
        _ = try await eventually { relay.passed.lines == asked }
        try await turn(after: 0) { _ = try $0.poll() }
        async let parts: Void = crowd.together { try $0.waitForMore(byPart: true) }
        let areExpecting = try await eventually {
            gateway.pipeline.service.waits.count == Self.workers
        }
        #expect(areExpecting, "\(gateway.pipeline.service.waits.count)")
        try await program.publishNext()
        try await parts

        // The requests of a client that never watches cause no line.
        for _ in 0..<2 {
            try passer.pretend()
            try await turn(after: 2.1) { _ = try $0.poll() }
        }
        expectEverybody(try await settled { _ in true })

        // A restarted nginx, without cached files and connections.
        nginx.stop()
        try await nginx.start()
        try await turn(after: 2.1) { _ = try $0.poll() }
        expectEverybody(try await settled { _ in true })

        // First a third of all lines is lost, then every line for less than the shortest timeout.
        relay.lose(oneIn: 3)
        for _ in 0..<3 { try await turn(after: 1) { _ = try $0.poll() } }
        expectEverybody(try await settled { _ in true })
        relay.lose(oneIn: nil)
        try await turn(after: 1) { _ = try $0.poll() }
        relay.lose(oneIn: 1)
        for _ in 0..<3 { try await turn(after: 1) { _ = try $0.poll() } }
        expectEverybody(try await settled { _ in true })

        // After a longer loss all viewers are gone, and return with their next lines without a second join.
        let watched = gateway.clock.now.seconds(since: began)
        gateway.clock.advance(seconds: 14)
        report = try await settled { $0.concurrent == 0 }
        #expect(report.concurrent == 0 && report.joins == Self.size && report.leaves == 0, "\(report)")
        relay.lose(oneIn: nil)
        try await turn(after: 0) { _ = try $0.poll() }
        expectEverybody(try await settled { $0.concurrent == Self.size })

        // The cache answers any id, but only ids that the gateway has signed count.
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

        // The players stop without notice, and leave when they cannot return any more.
        try await crowd.each { $0.leave() }
        passer.leave()
        gateway.clock.advance(seconds: 12.5)
        report = try await settled { $0.concurrent == 0 }
        #expect(report.concurrent == 0 && report.joins == Self.size && report.peak == Self.size, "\(report)")
        gateway.clock.advance(seconds: 31)
        report = try await settled { $0.leaves == Self.size }
        #expect(report.leaves == Self.size && report.resumable == 0, "\(report)")
        expectWatchTime(report, watched)

        nginx.stop()
        try await relay.close()
    }

    /// Logs in through nginx, exceeds the login limit, and uploads a large body.
    private func logIn(through nginx: NginxCache, to gateway: InProcessGateway) throws {
        let path = "/dashboard/session"
        func caller(_ address: String) -> VirtualPlayer {
            VirtualPlayer(port: nginx.port, room: Self.room, from: address, isLowLatency: false)
        }
        var guesser = caller("127.30.0.1")
        let tries = try (0..<7).map { try guesser.post(path, #"{"token":"guess \#($0)"}"#, said: "203.0.113.\($0)") }
        #expect(tries == [401, 401, 401, 401, 401, 429, 429], "\(tries)")
        var owner = caller("127.30.0.2")
        let entry = try owner.post(path, #"{"token":"\#(gateway.token)"}"#)
        // A single large line, which must pass nginx and costs little time to parse.
        let receipt = try owner.post("/v1/cdn-logs", String(repeating: "x", count: 2 << 20), token: gateway.token)
        #expect(entry == 200 && receipt == 400, "\(entry) \(receipt)")
        guesser.leave()
        owner.leave()
    }

    /// Expects every player to be counted once in each dimension.
    private func expectEverybody(_ report: RoomViewership, at location: SourceLocation = #_sourceLocation) {
        #expect(report.concurrent == Self.size, "\(report)", sourceLocation: location)
        #expect(report.joins == Self.size && report.peak == Self.size, "\(report)", sourceLocation: location)
        for counts in [report.byRegion, report.byRendition] {
            #expect(counts.values.reduce(0, +) == Self.size, "\(counts)", sourceLocation: location)
        }
        #expect(report.byProtocol.values.reduce(0, +) == Self.size, sourceLocation: location)
    }

    /// Expects the watch time from the first playlist to the last one before the loss, with tolerance.
    private func expectWatchTime(_ report: RoomViewership, _ watched: Double) {
        let each = report.watchTimeSeconds / Double(Self.size)
        print("watched by each player, in seconds:", each, "of", watched)
        #expect(each > 8 && each < watched + 6, "\(report)")
    }
}
