import FootlightModel
import Stage
import TestSupport
import Testing

@testable import FootlightClient

@MainActor
@Suite(
    "An event connection: bounded, monitored, with a reason for its end",
    .enabled(if: TestRun.isFull),
    .timeLimit(.minutes(1))
)
struct EventConnectionTests {
    private func client(
        _ server: ScriptedHTTPServer,
        _ clock: ManualClientClock,
        waiting: Int = 1024
    ) throws -> BroadcastClient {
        var limits = ClientLimits()
        limits.maximumQueuedEvents = waiting
        let address = try GatewayFixture.address(server.port)
        return BroadcastClient(baseURL: address, token: "t", limits: limits, clock: clock.clock)
    }

    private func story(_ connection: EventConnection) async -> [String] {
        var words: [String] = []
        for await signal in connection.signals {
            switch signal {
            case .began: words.append("began")
            case .event(let event): words.append("\(event.type) \(event.rev)")
            case .ended(let error): words.append("ended \(error.code)")
            }
        }
        return words
    }

    @Test("A reader that is too slow loses the connection with 53001, and still reads the buffered events")
    func bounded() async throws {
        let events = (2...40).map { WireFixtures.event("layout.changed", rev: $0) }.joined()
        let server = try ScriptedHTTPServer { _ in .stream(WireFixtures.snapshot(rev: 1) + events) }
        defer { server.close() }
        let client = try client(server, ManualClientClock(), waiting: 4)
        let connection = try client.connect(to: .room("show"), startCondition: .snapshot)
        #expect(try await soon { !server.requests.isEmpty })
        try await Task.sleep(for: .milliseconds(300))
        let words = await story(connection)
        #expect(words.first == "began" && words.last == "ended 53001")
        #expect(
            words.dropFirst().dropLast() == [
                "room.snapshot 1", "layout.changed 2", "layout.changed 3", "layout.changed 4",
            ]
        )
    }

    @Test("A refusal is the gateway's error; undecodable events are skipped; the stream's end is 53001")
    func ends() async throws {
        let server = try ScriptedHTTPServer { request in
            if request.contains("gone") {
                return .whole(status: 404, body: "{\"error\":\(WireFixtures.error(53106, name: "RoomNotFoundError"))}")
            }
            return .whole(
                status: 200,
                body: WireFixtures.snapshot(rev: 1) + "data: {}\n\ndata: [\n\nevent: new\ndata: 1\n\n"
            )
        }
        defer { server.close() }
        let client = try client(server, ManualClientClock())
        let gone = try client.connect(to: .room("gone"), startCondition: .snapshot)
        #expect(await story(gone) == ["ended 53106"])
        let resumed = try client.connect(to: .room("gone"), after: 7, startCondition: .anything)
        #expect(await story(resumed) == ["ended 53106"], "the body of a refusal is no beginning")
        let there = try client.connect(to: .room("show"), startCondition: .snapshot)
        let words = await story(there)
        #expect(words == ["began", "room.snapshot 1", "ended 53001"])
    }

    @Test("Silence of 15 s ends a stream that had begun; any data resets the timeout")
    func silence() async throws {
        let clock = ManualClientClock()
        let server = try ScriptedHTTPServer { _ in .stream(WireFixtures.snapshot(rev: 1)) }
        defer { server.close() }
        let connection = try client(server, clock).connect(to: .room("show"), startCondition: .snapshot)
        var count = 0
        for await _ in connection.signals {
            count += 1
            if count == 2 { break }
        }
        let began = clock.now
        let isOver = NumberLog()
        let reading = Task {
            let rest = await story(connection)
            isOver.append(1)
            return rest
        }
        _ = try await soon(moving: clock, by: .milliseconds(250)) { !isOver.recorded.isEmpty }
        #expect(await reading.value == ["ended 53001"])
        // The clock moves in steps, so the test observes it late.
        #expect(clock.now - began >= .seconds(15) && clock.now - began < .seconds(20))
    }

    @Test("An observer of a value first receives the current one; the buffer keeps the newest")
    func currentValue() async {
        let value = CurrentValue(1, waiting: 2)
        let early = value.stream()
        for number in 2...5 { value.send(number) }
        #expect(await collect(1, of: value.stream()) == [5])
        #expect(await collect(2, of: early) == [4, 5])
    }

    private func collect(_ count: Int, of stream: AsyncStream<Int>) async -> [Int] {
        var taken: [Int] = []
        for await value in stream {
            taken.append(value)
            if taken.count == count { break }
        }
        return taken
    }
}
