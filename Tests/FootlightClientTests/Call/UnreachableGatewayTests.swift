import FootlightClient
import Foundation
import Stage
import TestSupport
import Testing

@MainActor
@Suite("53000: an unreachable gateway", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct UnreachableGatewayTests {
    private func call(port: Int, _ clock: ManualClientClock) throws -> BroadcastCall {
        let client = BroadcastClient(baseURL: try GatewayFixture.address(port), token: "t", clock: clock.clock)
        return BroadcastCall(client: client, identity: "ann")
    }

    @Test("53000 if the connection is refused: three attempts with pauses, then left with the error")
    func connectionRefused() async throws {
        let clock = ManualClientClock()
        let call = try call(port: FreePort.pick(), clock)
        let log = CallLog(call)
        let began = clock.now
        call.join(CallJoin(room: "show"))
        #expect(call.status.callState == .joining, "D3: before anything was sent")
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(50))
        // Two pauses of 0.25 to 0.5 s; the clock moves on while the network refuses.
        #expect(clock.now - began >= .milliseconds(500))
        #expect(call.status.error?.solution == "Check the internet connection")
        _ = try await soon { log.statuses.count == 3 }
        #expect(log.phases == [.idle, .joining, .left(.callNotConnected)])
    }

    @Test("53000 if every connection is reset: three connections, no more")
    func reset() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .cut)
        let call = try call(port: proxy.port, clock)
        call.join(CallJoin(room: "show"))
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(50))
        #expect(proxy.connectionCount == 3)
    }

    @Test("53000 if a connection is accepted but not answered: 15 s for each attempt, 30 s for all")
    func silence() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .blackHole)
        let call = try call(port: proxy.port, clock)
        let began = clock.now
        call.join(CallJoin(room: "show"))
        #expect(try await soon { proxy.connectionCount == 1 })
        clock.advance(.milliseconds(14_900))
        try await Task.sleep(for: .milliseconds(50))
        #expect(call.status.phase == .joining && proxy.connectionCount == 1, "not yet")
        #expect(try await soon(moving: clock, by: .milliseconds(50)) { proxy.connectionCount == 2 })
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(200))
        let waited = clock.now - began
        #expect(waited >= .seconds(30) && waited < .seconds(36), "\(waited)")
        #expect(proxy.connectionCount == 2)
    }

    @Test("53000 if the event stream answers 200 and its first event does not arrive within 5 s")
    func noFirstEvent() async throws {
        let clock = ManualClientClock()
        let server = try ScriptedHTTPServer { request in
            if request.hasPrefix("POST") { return .whole(status: 201, body: WireFixtures.joinAnswer()) }
            if request.hasPrefix("GET") { return .stream("retry: 2000\n\n: a comment is no event\n\n") }
            return .whole(status: 200, body: "")
        }
        defer { server.close() }
        let call = try call(port: server.port, clock)
        let began = clock.now
        call.join(CallJoin(room: "show"))
        for count in 1...3 {
            // Slowly to the next attempt, whose requests take real time; then 5 s.
            let events = { server.requests.count { $0.hasPrefix("GET /v1/rooms/RM1/events") } }
            #expect(try await soon(moving: clock, by: .milliseconds(20)) { events() == count })
            let joinCancelled = { server.requests.count { $0.hasPrefix("DELETE") } }
            #expect(try await soon(moving: clock, by: .milliseconds(100)) { joinCancelled() == count })
        }
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(20))
        #expect(clock.now - began >= .seconds(15))
        // The created participant is removed.
        #expect(try await soon { server.requests.count { $0.hasPrefix("DELETE") } == 3 })
        #expect(server.requests.count { $0 == "POST /v1/rooms/show/participants" } == 3)
        #expect(server.requests.count { $0.hasPrefix("GET /v1/rooms/RM1/events") } == 3)
    }

    @Test("S8 U12 hanging up during a join never ends in the room")
    func hangUpWhileJoining() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .blackHole)
        let call = try call(port: proxy.port, clock)
        let log = CallLog(call)
        call.join(CallJoin(room: "show"))
        #expect(try await soon { proxy.connectionCount == 1 })
        call.hangUp()
        #expect(call.status.callState == .leaving)
        // Without a response leaving takes its 10 s.
        try await call.reach(.left(nil), moving: clock, by: .milliseconds(200))
        _ = try await soon { log.statuses.count == 4 }
        #expect(log.phases == [.idle, .joining, .leaving, .left(nil)])
    }

    @Test("A single request also has 15 s, and its task can be cancelled")
    func oneRequest() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .blackHole)
        let client = BroadcastClient(baseURL: try GatewayFixture.address(proxy.port), token: "t", clock: clock.clock)
        let asking = Task { try await client.room("show") }
        #expect(try await soon { proxy.connectionCount == 1 })
        clock.advance(.seconds(15))
        await #expect(throws: StageError.callNotConnected) { try await asking.value }
        let cancelled = Task { try await client.room("show") }
        #expect(try await soon { proxy.connectionCount == 2 })
        cancelled.cancel()
        await #expect(throws: StageError.requestCancelled) { try await cancelled.value }
    }

    @Test("Requests that fail while they are cancelled all complete")
    func cancelledWhileFailing() async throws {
        let proxy = try FaultProxy(to: 9, mode: .cut)
        let client = BroadcastClient(baseURL: try GatewayFixture.address(proxy.port), token: "t")
        let codes = await withTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                group.addTask {
                    let asking = Task { try await client.room("show") }
                    let cancelling = Task {
                        try? await Task.sleep(for: .microseconds(number * 100))
                        asking.cancel()
                    }
                    let result = await asking.result
                    await cancelling.value
                    if case .failure(let error as StageError) = result { return error.code }
                    return 0
                }
            }
            var codes: Set<Int> = []
            for await code in group { codes.insert(code) }
            return codes
        }
        #expect(codes.isSubset(of: [499, 53000]), "\(codes)")
    }
}
