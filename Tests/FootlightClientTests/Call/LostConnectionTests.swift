import FootlightClient
import FootlightModel
import Stage
import FootlightTesting
import TestSupport
import Testing

@MainActor
@Suite("Connection losses, against a real gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct LostConnectionTests {
    @Test("53001 is the reason while the connection is down, and the final error after 30 s; T16 U13 U15")
    func neverBack() async throws {
        let show = try await GatewayFixture()
        let clock = ManualClientClock()
        let call = try await show.joined("ann", clock: clock.clock)
        let log = CallLog(call)
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        #expect(ConnectionLoss.signalling.rawValue == 53001)
        #expect(call.status.callState == .joined && call.status.callingState == .reconnecting)
        await #expect(throws: StageError.reconnecting) { try await call.changeMode(.sendAndReceive) }
        let lost = clock.now
        try await call.reach(.left(.callConnectionLost), moving: clock, by: .milliseconds(250))
        let given = clock.now - lost
        // The clock moves in steps, so the test observes it late.
        #expect(given >= .seconds(30) && given < .seconds(35), "\(given)")
        #expect(call.code == 53001 && call.room == nil && call.participants.isEmpty)
        _ = try await soon { log.phases.last == .left(.callConnectionLost) }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test("A connection that drops all traffic is detected after 15 s of silence")
    func blackHole() async throws {
        let show = try await GatewayFixture()
        let clock = ManualClientClock()
        let call = try await show.joined("ann", clock: clock.clock)
        show.proxy.mode = .blackHole
        let began = clock.now
        try await call.reach(.reconnecting(.signalling), moving: clock, by: .milliseconds(250))
        #expect(clock.now - began <= .seconds(20), "seen some steps late")
        show.proxy.mode = .pass
        try await call.reach(.joined, moving: clock, by: .milliseconds(50), over: show.proxy)
        #expect(call.localParticipant?.identity == "ann")
    }

    @Test("After a short loss no event is lost or repeated; U14 with Last-Event-ID")
    func replay() async throws {
        let show = try await GatewayFixture()
        let call = try await show.call("ann")
        let log = CallLog(call)
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.joined)
        // A follower without a session, over the same connection.
        let onlooker = BroadcastClient(
            baseURL: try GatewayFixture.address(show.proxy.port),
            token: show.operatorClient.token
        )
        let watching = Task { [room = show.room] in
            var seen: [EventResource] = []
            do {
                for try await event in onlooker.events(of: room) {
                    seen.append(event)
                    if event.type == "layout.changed", event.layout?.gridSize == 9 { break }
                }
            } catch {
                Issue.record("\(error)")
            }
            return seen
        }
        for size in 2...3 { try await show.operatorClient.setLayout(of: show.room, LayoutBody(gridSize: size)) }
        #expect(try await soon { call.room?.layout?.gridSize == 3 })
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        for size in 4...7 { try await show.operatorClient.setLayout(of: show.room, LayoutBody(gridSize: size)) }
        show.proxy.mode = .pass
        try await call.reach(.joined)
        for size in 8...9 { try await show.operatorClient.setLayout(of: show.room, LayoutBody(gridSize: size)) }
        #expect(try await soon { call.room?.layout?.gridSize == 9 })
        let seen = await watching.value
        _ = try await soon { log.events.last?.layout?.gridSize == 9 }
        for events in [log.events, seen] {
            #expect(events.first?.type == "room.snapshot")
            let revisions = events.map(\.rev)
            let first = try #require(revisions.first)
            #expect(revisions == Array(first..<first + UInt64(revisions.count)), "each once and in order")
            #expect(events.compactMap { $0.layout?.gridSize }.suffix(6) == [4, 5, 6, 7, 8, 9])
            #expect(events.count { $0.type == "room.snapshot" } == 1, "what was missed was replayed")
        }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test(
        "U14 after 15 s the session is resumed with a new snapshot and the same participant"
    )
    func rejoin() async throws {
        let show = try await GatewayFixture()
        let clock = ManualClientClock()
        let call = try await show.call("ann", clock: clock.clock)
        let log = CallLog(call)
        call.join(CallJoin(room: show.room, mode: .receiveOnly))
        try await call.reach(.joined)
        let sid = call.localParticipant?.sid
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        let lost = clock.now
        let isLate = try await soon(moving: clock, by: .milliseconds(250)) { clock.now - lost > .seconds(16) }
        #expect(isLate && call.status.phase == .reconnecting(.signalling))
        try await show.operatorClient.setLayout(of: show.room, LayoutBody(gridSize: 5))
        show.proxy.mode = .pass
        try await call.reach(.joined, moving: clock, by: .milliseconds(100), over: show.proxy)
        #expect(call.localParticipant?.sid == sid && call.room?.layout?.gridSize == 5)
        // The log is updated shortly after the call.
        let snapshots = { log.events.count { $0.type == "room.snapshot" } }
        #expect(try await soon { snapshots() >= 2 } && snapshots() == 2)
    }

    @Test("A gateway that is killed with SIGKILL and restarted has the same participant in the same room")
    func killed() async throws {
        let show = try await GatewayFixture(isAlone: true)
        let call = try await show.joined("ann")
        let log = CallLog(call)
        let sid = try #require(call.localParticipant?.sid)
        try await show.gateway.kill9()
        try await call.reach(.reconnecting(.signalling))
        try await show.gateway.start(reusesPorts: true)
        try await call.reach(.joined, within: .seconds(20))
        #expect(call.localParticipant?.sid == sid)
        let found = try await show.operatorClient.participant("ann", in: show.room)
        #expect(found.sid == sid && found.status == "connected")
        _ = try await soon { log.phases.last == .joined }
        #expect(CallPhaseRules.violation(in: log.statuses) == nil)
    }

    @Test("U16 leaving during a connection loss stops reconnecting at once")
    func leaveWhileReconnecting() async throws {
        let show = try await GatewayFixture()
        let clock = ManualClientClock()
        let call = try await show.joined("ann", clock: clock.clock)
        show.proxy.mode = .cut
        try await call.reach(.reconnecting(.signalling))
        call.leave()
        #expect(call.status.callState == .leaving)
        // The clock stands still, so no timeout can pass.
        try await call.reach(.left(nil))
        let connections = show.proxy.connectionCount
        for _ in 0..<10 {
            clock.advance(.seconds(4))
            try await Task.sleep(for: .milliseconds(10))
        }
        #expect(show.proxy.connectionCount == connections)
    }

    @Test("Delay alone does not break the connection")
    func delay() async throws {
        let show = try await GatewayFixture()
        show.proxy.mode = .delay(.milliseconds(150))
        let call = try await show.joined("ann")
        try await call.client.update("ann", in: show.room, UpdateParticipantBody(displayName: "Ann"))
        #expect(try await soon { call.localParticipant?.displayName == "Ann" })
        #expect(call.status.phase == .joined)
    }
}
