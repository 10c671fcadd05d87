import FootlightClient
import FootlightModel
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite(
    "T15: every row of the error table, raised by a real gateway, as a call reports it",
    .enabled(if: TestRun.isFull),
    .timeLimit(.minutes(1))
)
struct ErrorTableTests {
    @Test("T14 53105 RoomMaxParticipantsExceededError when the room is full; the error is complete")
    func full() async throws {
        let show = try await GatewayFixture { $0.maxParticipants = 1 }
        _ = try await show.joined("ann")
        let call = try await show.call("bob")
        let log = CallLog(call)
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.left(.roomFull))
        let error = try #require(call.status.error)
        #expect(error.code == 53105 && error.name == "RoomMaxParticipantsExceededError" && error.status == 409)
        #expect(!error.isRetryable && !error.message.isEmpty && !error.cause.isEmpty && !error.solution.isEmpty)
        #expect(call.status.meetingState == .failed && call.status.callState == .left, "D4")
        _ = try await soon { log.statuses.count == 3 }
        #expect(log.phases == [.idle, .joining, .left(.roomFull)], "refused at once, without further tries")
    }

    @Test("53106 RoomNotFoundError in the connect phase: no such room")
    func noRoom() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann", room: "nowhere")
        call.join(CallJoin(room: "nowhere", mode: .receiveOnly))
        try await call.reach(.left(.roomNotFound))
        #expect(call.code == 53106)
        #expect(call.status.error?.solution == "Create the room with the REST API first")
    }

    @Test("53106 in the disconnect phase: the room ended during the outage")
    func endedMeanwhile() async throws {
        let show = try await GatewayFixture()
        let call = try await show.joined("ann")
        let log = CallLog(call)
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        try await show.operatorClient.endRoom(show.room)
        show.proxy.mode = .pass
        try await call.reach(.left(.roomGone))
        #expect(call.code == 53106)
        #expect(call.status.error?.solution == "Tell the user that the room has ended")
        _ = try await soon { log.statuses.count == 3 }
        #expect(log.phases == [.joined, .reconnecting(.signalling), .left(.roomGone)])
        #expect(call.status.roomState == .disconnected && call.room == nil)
    }

    @Test("53118 when the room is ended during the call; U18")
    func ended() async throws {
        let show = try await GatewayFixture()
        let call = try await show.joined("ann")
        try await show.operatorClient.endRoom(show.room)
        try await call.reach(.left(.roomCompleted))
        #expect(call.code == 53118)
    }

    @Test("T17 53205 ParticipantDuplicateIdentityError for the older session, which does not rejoin")
    func duplicate() async throws {
        let show = try await GatewayFixture()
        let old = try await show.joined("ann")
        let watcher = try await show.joined("bob")
        let log = CallLog(watcher)
        let new = try await show.joined("ann")
        try await old.reach(.left(.duplicateIdentity))
        #expect(old.code == 53205)
        #expect(try await soon { log.events.contains { $0.type == "participant.joined" } })
        try await Task.sleep(for: .milliseconds(500))
        #expect(old.status.phase == .left(.duplicateIdentity) && new.status.phase == .joined)
        #expect(log.events.filter { $0.type == "participant.left" }.map(\.reason) == ["duplicate_identity"])
        #expect(watcher.participants.map(\.identity).sorted() == ["ann", "bob"])
        #expect(watcher.participants.first { $0.identity == "ann" }?.sid == new.localParticipant?.sid)
    }

    @Test("T13 53002 SignalingConnectionTimeoutError for an expired session: left, no automatic rejoin")
    func sessionOver() async throws {
        let show = try await GatewayFixture()
        let first = try await show.client("ann")
        let answer = try await first.join(show.room, JoinBody(mode: "RECV_ONLY"))
        try await first.leave("ann", in: show.room)
        let call = try await show.joined("ann")
        // The next request with the expired session.
        await #expect(throws: StageError.sessionTimedOut) {
            try await first.heartbeat("ann", in: show.room, sessionID: answer.sessionID + "x")
        }
        await #expect(throws: StageError.sessionTimedOut) {
            _ = try await first.reconnect("ann", in: show.room, sessionID: answer.sessionID + "x")
        }
        #expect(call.status.phase == .joined)
    }

    @Test("1002 REMOVE_PEER for a participant removed during a connection loss, without further attempts")
    func removedMeanwhile() async throws {
        let show = try await GatewayFixture()
        let call = try await show.joined("ann")
        let log = CallLog(call)
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        try await show.operatorClient.remove("ann", from: show.room)
        show.proxy.mode = .pass
        try await call.reach(.left(.participantRemoved))
        #expect(call.code == 1002 && call.status.error?.isRetryable == false)
        _ = try await soon { log.statuses.count == 3 }
        #expect(log.phases == [.joined, .reconnecting(.signalling), .left(.participantRemoved)])
        let connections = show.proxy.connectionCount
        try await Task.sleep(for: .milliseconds(500))
        #expect(show.proxy.connectionCount == connections)
    }

    @Test("1002 REMOVE_PEER for a removed participant, on its stream, and for its session later")
    func removed() async throws {
        let show = try await GatewayFixture()
        let call = try await show.joined("ann")
        try await show.operatorClient.remove("ann", from: show.room)
        try await call.reach(.left(.participantRemoved))
        let client = try await show.client("ben")
        let session = try await client.join(show.room, JoinBody(mode: "RECV_ONLY")).sessionID
        try await show.operatorClient.remove("ben", from: show.room)
        await #expect(throws: StageError.participantRemoved) {
            try await client.heartbeat("ben", in: show.room, sessionID: session)
        }
        await #expect(throws: StageError.participantRemoved) {
            _ = try await client.reconnect("ben", in: show.room, sessionID: session)
        }
    }

    @Test("20101 a token revoked during the call: reported by the stream, left, without further attempts")
    func revokedInCall() async throws {
        let show = try await GatewayFixture()
        let token = try await show.token("ann", .receiveOnly)
        let client = BroadcastClient(baseURL: try GatewayFixture.address(show.proxy.port), token: token)
        let call = BroadcastCall(client: client, identity: "ann")
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.joined)
        let log = CallLog(call)
        let answer = try await show.gateway.api("POST", "/v1/tokens/revoke", ["token": .string(token)])
        #expect(answer.status == 200)
        try await call.reach(.left(.tokenRevoked))
        #expect(call.code == 20101 && call.status.error?.isRetryable == false)
        let connections = show.proxy.connectionCount
        try await Task.sleep(for: .seconds(1))
        #expect(show.proxy.connectionCount == connections)
        #expect(log.phases.last == .left(.tokenRevoked))
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.left(.tokenRevoked))
    }

    @Test(
        "A heartbeat that is refused for good ends the call at once",
        arguments: [(20101, "AccessTokenInvalidError"), (20104, "AccessTokenExpiredError"), (1002, "REMOVE_PEER")]
    )
    func refusedInCall(code: Int, name: String) async throws {
        let clock = ManualClientClock()
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"):
                .whole(status: 401, body: "{\"error\":\(WireFixtures.error(code, name: name))}")
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer(mode: "RECV_ONLY"))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann", mode: "RECV_ONLY")))
            default: .whole(status: 200, body: "")
            }
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t", clock: clock.clock)
        let call = BroadcastCall(client: client, identity: "ann")
        call.join(CallJoin(room: "show", mode: .receiveOnly))
        try await call.reach(.joined)
        let began = clock.now
        let isOver = try await soon(moving: clock, by: .milliseconds(100)) { call.code == code }
        // The first heartbeat after 5 s, and 2 s for the stream to report its reason.
        #expect(isOver && clock.now - began < .seconds(12), "\(call.status)")
        let requests = server.requests.count
        for _ in 0..<20 { clock.advance(.seconds(2)) }
        try await Task.sleep(for: .milliseconds(100))
        #expect(call.code == code && server.requests.count == requests)
    }

    @Test("53002 in response to a heartbeat ends the call at once")
    func sessionOverInCall() async throws {
        let clock = ManualClientClock()
        let server = try ScriptedHTTPServer { request in
            switch request.split(separator: " ").first {
            case "POST" where request.hasSuffix("/heartbeat"):
                .whole(
                    status: 410,
                    body: "{\"error\":\(WireFixtures.error(53002, name: "SignalingConnectionTimeoutError"))}"
                )
            case "POST": .whole(status: 201, body: WireFixtures.joinAnswer(mode: "RECV_ONLY"))
            case "GET": .stream(WireFixtures.snapshot(rev: 1, WireFixtures.participant("ann", mode: "RECV_ONLY")))
            default: .whole(status: 200, body: "")
            }
        }
        defer { server.close() }
        let client = BroadcastClient(baseURL: try GatewayFixture.address(server.port), token: "t", clock: clock.clock)
        let call = BroadcastCall(client: client, identity: "ann")
        call.join(CallJoin(room: "show", mode: .receiveOnly))
        try await call.reach(.joined)
        let isOver = try await soon(moving: clock, by: .milliseconds(100)) { call.code == 53002 }
        #expect(isOver, "\(call.status)")
        let requests = server.requests.count
        for _ in 0..<20 { clock.advance(.seconds(2)) }
        try await Task.sleep(for: .milliseconds(100))
        #expect(call.code == 53002 && server.requests.count == requests)
    }

    @Test("53006 SignalingServerBusyError: a busy gateway is retried after Retry-After, and joined when it admits")
    func busy() async throws {
        let show = try await GatewayFixture(environment: [
            "FOOTLIGHT_ROOMS_MAXIMUM": "1", "FOOTLIGHT_ROOMS_AD_HOC": "true",
        ])
        let clock = ManualClientClock()
        let call = try await show.call("ann", room: "second", clock: clock.clock)
        call.join(CallJoin(room: "second", mode: .receiveOnly))
        #expect(try await soon { show.proxy.connectionCount > 0 })
        for _ in 0..<20 {
            clock.advance(.milliseconds(100))
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(call.status.phase == .joining)
        try await show.operatorClient.endRoom(show.room)
        try await call.reach(.joined, moving: clock, by: .milliseconds(250), over: show.proxy)
    }

    @Test("53006 is the final error of a gateway that stays busy for the 30 s of a join")
    func staysBusy() async throws {
        let show = try await GatewayFixture(environment: [
            "FOOTLIGHT_ROOMS_MAXIMUM": "1", "FOOTLIGHT_ROOMS_AD_HOC": "true",
        ])
        let clock = ManualClientClock()
        let call = try await show.call("ann", room: "second", clock: clock.clock)
        let began = clock.now
        call.join(CallJoin(room: "second", mode: .receiveOnly))
        let isOver = try await soon(moving: clock, by: .milliseconds(250), over: show.proxy) {
            call.status.callState == .left
        }
        #expect(isOver && call.code == 53006, "\(call.status)")
        let waited = clock.now - began
        // The clock moves in steps, so the test observes it late.
        #expect(waited > .seconds(10) && waited <= .seconds(35), "\(waited)")
    }

    @Test("20107 for a changed token, 20106 for one of another room: reported by code, without retries")
    func tokens() async throws {
        let show = try await GatewayFixture()
        let client = try await show.client("ann")
        var changed = client
        changed.token = String(client.token.dropLast(4)) + "AAAA"
        let call = BroadcastCall(client: changed, identity: "ann")
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.left(.tokenSignatureInvalid))
        call.client = try await show.client("ann", room: "other")
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.left(.tokenGrantsInvalid))
        call.client = client
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.joined)
    }
}
