import FootlightClient
import FootlightModel
import Stage
import TestSupport
import Testing

/// Media losses with scripted responses: a real gateway takes 15 and 30 s.
@MainActor
@Suite("53405: media losses as a call observes them", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct PublisherLossTests {
    private func joined(
        _ events: String,
        status: String = "reconnecting",
        clock: ClientClock = .system
    ) async throws -> (
        BroadcastCall, CallLog, ScriptedHTTPServer
    ) {
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"): .whole(status: 200, body: "")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer())
            case "GET" where request.hasSuffix("/participants/PA-ann"):
                .whole(status: 200, body: WireFixtures.participant("ann", status: status))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann")) + events)
            default: .whole(status: 200, body: "")
            }
        }
        var limits = ClientLimits()
        // No further events follow the script.
        limits.silence = .seconds(600)
        let address = try GatewayFixture.address(server.port)
        let client = BroadcastClient(baseURL: address, token: "t", limits: limits, clock: clock)
        let call = BroadcastCall(client: client, identity: "ann")
        let log = CallLog(call)
        call.callSettings = CallSettings(isAudioOn: false, isVideoOn: false)
        call.join(CallJoin(room: "show"))
        return (call, log, server)
    }

    private static let disconnected = WireFixtures.event(
        "session.disconnected",
        rev: 3,
        ",\"error\":\(WireFixtures.error(53405, name: "MediaConnectionError", retryable: true))"
    )

    @Test("53405 MediaConnectionError in the connect phase: no media within 15 s ends the call")
    func neverCame() async throws {
        let (call, log, server) = try await joined(Self.disconnected)
        defer { server.close() }
        #expect(try await soon { call.code == 53405 })
        _ = try await soon { log.statuses.count == 4 }
        #expect(log.phases.prefix(3) == [.idle, .joining, .joined])
        #expect(log.statuses.last?.error?.name == "MediaConnectionError")
        #expect(log.statuses.count == 4, "no automatic rejoin")
    }

    @Test("53405 in the disconnect phase: reconnecting(53405) first, then left with it; T16")
    func went() async throws {
        let lost = WireFixtures.event(
            "participant.reconnecting",
            rev: 2,
            ",\"participant\":\(WireFixtures.participant("ann", status: "reconnecting", revision: 2)),"
                + "\"reason\":\"media\",\"code\":53405"
        )
        let (call, log, server) = try await joined(lost + Self.disconnected)
        defer { server.close() }
        #expect(try await soon { call.code == 53405 })
        _ = try await soon { log.statuses.count == 5 }
        #expect(log.phases.prefix(4) == [.idle, .joining, .joined, .reconnecting(.media)])
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test("53405 in the disconnect phase: a publisher disconnected for 30 s ends the call; T16 U15")
    func connectionLostForGood() async throws {
        let clock = ManualClientClock()
        let (call, log, server) = try await joined("", clock: clock.clock)
        defer { server.close() }
        try await call.reach(.joined)
        let ingest = try await ReceivingRTMPServer.start(key: "sk_key")
        let line = try FaultProxy(to: ingest.port)
        let url = "rtmp://127.0.0.1:\(line.port)/live"
        let publisher = RTMPPublisher(url: url, streamKey: "sk_key", clock: clock.clock)
        let following = Task { await call.follow(publisher) }
        defer { following.cancel() }
        publisher.start()
        #expect(try await soon { publisher.currentStatistics.state == .publishing })
        line.mode = .cut
        try await call.reach(.reconnecting(.media))
        let lost = clock.now
        try await call.reach(.left(.mediaLost), moving: clock, by: .milliseconds(250))
        let given = clock.now - lost
        // The clock moves in steps, so the test observes it late.
        #expect(given >= .seconds(30) && given < .seconds(35), "\(given)")
        #expect(call.code == 53405)
        #expect(call.status.error?.solution == "Check the network. Allow media traffic through the firewall")
        _ = try await soon { log.statuses.count == 5 }
        #expect(log.phases == [.idle, .joining, .joined, .reconnecting(.media), .left(.mediaLost)])
        await publisher.stop()
        await ingest.stop()
    }

    @Test(
        "Restored media ends the interruption, after the publisher's attempt and the gateway's confirmation"
    )
    func cameBack() async throws {
        let (call, log, server) = try await joined("", status: "connected")
        defer { server.close() }
        try await call.reach(.joined)
        let tries = NumberLog()
        call.recoverMedia = { (attempt) throws(StageError) in
            tries.append(attempt)
            if attempt < 2 { throw .mediaLost }
        }
        call.mediaLost()
        #expect(call.status.phase == .reconnecting(.media) && call.status.callState == .joined)
        try await call.reach(.joined)
        #expect(tries.recorded == [1, 2])
        call.mediaLost()
        call.mediaRestored()
        #expect(call.status.phase == .joined)
        _ = try await soon { log.statuses.count == 7 }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }
}
