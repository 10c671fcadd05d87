import FootlightClient
import FootlightTesting
import Foundation
import Stage
import Testing

@MainActor
@Suite("53000: a gateway that cannot be reached, in every way there is", .timeLimit(.minutes(1)))
struct UnreachableTests {
    private func call(port: Int, _ clock: ManualClientClock) throws -> BroadcastCall {
        let client = BroadcastClient(baseURL: try Show.address(port), token: "t", clock: clock.clock)
        return BroadcastCall(client: client, identity: "ann")
    }

    @Test("53000 where nobody listens: three tries with pauses between them, then left with the error")
    func nobodyListens() async throws {
        let clock = ManualClientClock()
        let call = try call(port: FreePort.pick(), clock)
        let log = CallLog(call)
        let began = clock.now
        call.join(CallJoin(room: "show"))
        #expect(call.status.callState == .joining, "D3: before anything was sent")
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(50))
        // Two pauses of 0.25 to 0.5 s; the clock moves on a little while the network refuses.
        #expect(clock.now - began >= .milliseconds(500))
        #expect(call.status.error?.solution == "Check the internet connection")
        _ = try await soon { log.statuses.count == 3 }
        #expect(log.phases == [.idle, .joining, .left(.callNotConnected)])
    }

    @Test("53000 when every connection is reset: three connections, no more")
    func reset() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .cut)
        let call = try call(port: proxy.port, clock)
        call.join(CallJoin(room: "show"))
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(50))
        #expect(proxy.connectionCount == 3)
    }

    @Test("53000 when a connection is taken and nothing comes: 15 s for each try, 30 s for all")
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

    @Test("53000 when the event stream answers 200 and its first event does not come within 5 s")
    func noFirstEvent() async throws {
        let clock = ManualClientClock()
        let server = try WireServer { request in
            if request.hasPrefix("POST") { return .whole(status: 201, body: WireFixtures.joinAnswer()) }
            if request.hasPrefix("GET") { return .stream("retry: 2000\n\n: a comment is no event\n\n") }
            return .whole(status: 200, body: "")
        }
        defer { server.close() }
        let call = try call(port: server.port, clock)
        let began = clock.now
        call.join(CallJoin(room: "show"))
        for count in 1...3 {
            // Slowly to the next try, which begins with requests that take as long as the machine takes; then 5 s.
            let events = { server.requests.count { $0.hasPrefix("GET /v1/rooms/RM1/events") } }
            #expect(try await soon(moving: clock, by: .milliseconds(20)) { events() == count })
            let takenDown = { server.requests.count { $0.hasPrefix("DELETE") } }
            #expect(try await soon(moving: clock, by: .milliseconds(100)) { takenDown() == count })
        }
        try await call.reach(.left(.callNotConnected), moving: clock, by: .milliseconds(20))
        #expect(clock.now - began >= .seconds(15))
        // What was made for nothing is taken down.
        #expect(try await soon { server.requests.count { $0.hasPrefix("DELETE") } == 3 })
        #expect(server.requests.count { $0 == "POST /v1/rooms/show/participants" } == 3)
        #expect(server.requests.count { $0.hasPrefix("GET /v1/rooms/RM1/events") } == 3)
    }

    @Test("S8 U12 hanging up while a join is under way never ends in the room")
    func hangUpWhileJoining() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .blackHole)
        let call = try call(port: proxy.port, clock)
        let log = CallLog(call)
        call.join(CallJoin(room: "show"))
        #expect(try await soon { proxy.connectionCount == 1 })
        call.hangUp()
        #expect(call.status.callState == .leaving)
        // Nobody answers, so that it takes the 10 s of leaving.
        try await call.reach(.left(nil), moving: clock, by: .milliseconds(200))
        _ = try await soon { log.statuses.count == 4 }
        #expect(log.phases == [.idle, .joining, .leaving, .left(nil)])
    }

    @Test("A single question has 15 s, too, and its task can be cancelled")
    func oneRequest() async throws {
        let clock = ManualClientClock()
        let proxy = try FaultProxy(to: 9, mode: .blackHole)
        let client = BroadcastClient(baseURL: try Show.address(proxy.port), token: "t", clock: clock.clock)
        let asking = Task { try await client.room("show") }
        #expect(try await soon { proxy.connectionCount == 1 })
        clock.advance(.seconds(15))
        await #expect(throws: StageError.callNotConnected) { try await asking.value }
        let cancelled = Task { try await client.room("show") }
        #expect(try await soon { proxy.connectionCount == 2 })
        cancelled.cancel()
        await #expect(throws: StageError.requestCancelled) { try await cancelled.value }
    }

    @Test("Requests that fail at the moment at which they are cancelled all come to an end")
    func cancelledWhileFailing() async throws {
        let proxy = try FaultProxy(to: 9, mode: .cut)
        let client = BroadcastClient(baseURL: try Show.address(proxy.port), token: "t")
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
