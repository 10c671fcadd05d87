import FootlightClient
import FootlightTesting
import GatewayModel
import Stage
import Testing

/// What the gateway says of lost media, written out by hand: with a real gateway it takes 15 and 30 s.
@MainActor
@Suite("53405: lost media, as the call hears of it", .timeLimit(.minutes(1)))
struct MediaLossTests {
    private func joined(
        _ events: String,
        status: String = "reconnecting"
    ) async throws -> (
        BroadcastCall, CallLog, WireServer
    ) {
        let server = try WireServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"): .whole(status: 200, body: "")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer())
            case "GET" where request.hasSuffix("/participants/PA-ann"):
                .whole(status: 200, body: WireFixtures.participant("ann", status: status))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann")) + events)
            default: .whole(status: 200, body: "")
            }
        }
        let client = BroadcastClient(baseURL: try Show.address(server.port), token: "t")
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
        #expect(CallLaw.breach(in: log.statuses) == nil)
    }

    @Test(
        "Media that comes back ends the interruption; the publisher is asked to try, and the gateway whether it has it"
    )
    func cameBack() async throws {
        let (call, log, server) = try await joined("", status: "connected")
        defer { server.close() }
        try await call.reach(.joined)
        let tries = Tally()
        call.recoverMedia = { (attempt) throws(StageError) in
            tries.note(attempt)
            if attempt < 2 { throw .mediaLost }
        }
        call.mediaLost()
        #expect(call.status.phase == .reconnecting(.media) && call.status.callState == .joined)
        try await call.reach(.joined)
        #expect(tries.noted == [1, 2])
        call.mediaLost()
        call.mediaRestored()
        #expect(call.status.phase == .joined)
        _ = try await soon { log.statuses.count == 7 }
        #expect(CallLaw.breach(in: log.statuses) == nil)
    }
}
