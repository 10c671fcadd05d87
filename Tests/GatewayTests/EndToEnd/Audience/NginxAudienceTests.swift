import FanOut
import FootlightTesting
import Foundation
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

    @Test(
        """
        G1 G2 500 players behind a shared cache are 500, each once, while few of their requests reach us; nginx may start \
        anew, and datagrams may be lost
        """
    )
    func crowd() async throws {
        let gateway = try await WiredGateway(TemporaryFolder("nginx-audience"))
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
            program.goOn()
            return gateway.pipeline.playlists.status(room: Self.room).state == .playable
        }
        #expect(isPlayable)
        let relay = try await BeatRelay(to: gateway.beatsPort, group: gateway.group)
        let nginx = try await NginxCache(gatewayPort: gateway.httpPort, beatsPort: relay.port)
        let crowd = VirtualCrowd(
            (0..<Self.size).map {
                VirtualPlayer(port: nginx.port, room: Self.room, isLowLatency: $0 < Self.lowLatency)
            }
        )
        var asked = 0

        /// Everybody asks once more, and each of the lines has come.
        func turn(after seconds: Double, _ body: @escaping @Sendable (inout VirtualPlayer) throws -> Void) async throws
        {
            gateway.clock.putForward(seconds: seconds)
            program.goOn()
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
        gateway.clock.putForward(seconds: 12.5)
        report = try await settled { $0.concurrent == 0 }
        #expect(report.concurrent == 0 && report.joins == Self.size && report.peak == Self.size, "\(report)")
        gateway.clock.putForward(seconds: 31)
        report = try await settled { $0.leaves == Self.size }
        #expect(report.leaves == Self.size && report.resumable == 0, "\(report)")
        expectWatchTime(report)

        nginx.stop()
        try await relay.close()
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
    private func expectWatchTime(_ report: RoomViewership) {
        let each = report.watchTimeSeconds / Double(Self.size)
        print("watched by each player, in seconds:", each)
        #expect(each > 8 && each < 25, "\(report)")
    }
}
