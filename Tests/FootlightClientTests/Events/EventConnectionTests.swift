import GatewayModel
import Stage
import Testing

@testable import FootlightClient

@MainActor
@Suite("One connection of events: bounded, watched, and with a reason for its end", .timeLimit(.minutes(1)))
struct EventConnectionTests {
    private func client(_ server: WireServer, _ clock: ManualClientClock, waiting: Int = 1024) throws -> BroadcastClient
    {
        var limits = ClientLimits()
        limits.waitingEvents = waiting
        let address = try Show.address(server.port)
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

    @Test("A reader that is too slow loses the connection with 53001, and what had found a place is still there")
    func bounded() async throws {
        let events = (2...40).map { WireFixtures.event("layout.changed", rev: $0) }.joined()
        let server = try WireServer { _ in .stream(WireFixtures.snapshot(rev: 1) + events) }
        defer { server.close() }
        let client = try client(server, ManualClientClock(), waiting: 4)
        let connection = try client.connect(to: .room("show"), beginning: .snapshot)
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

    @Test("A refusal is the gateway's own error; what cannot be read is passed over; the stream's end is 53001")
    func ends() async throws {
        let server = try WireServer { request in
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
        let gone = try client.connect(to: .room("gone"), beginning: .snapshot)
        #expect(await story(gone) == ["ended 53106"])
        let resumed = try client.connect(to: .room("gone"), after: 7, beginning: .anything)
        #expect(await story(resumed) == ["ended 53106"], "the body of a refusal is no beginning")
        let there = try client.connect(to: .room("show"), beginning: .snapshot)
        let words = await story(there)
        #expect(words == ["began", "room.snapshot 1", "ended 53001"])
    }

    @Test("Silence of 15 s ends a stream that had begun; until then any sign is enough")
    func silence() async throws {
        let clock = ManualClientClock()
        let server = try WireServer { _ in .stream(WireFixtures.snapshot(rev: 1)) }
        defer { server.close() }
        let connection = try client(server, clock).connect(to: .room("show"), beginning: .snapshot)
        var count = 0
        for await _ in connection.signals {
            count += 1
            if count == 2 { break }
        }
        let began = clock.now
        let isOver = Tally()
        let reading = Task {
            let rest = await story(connection)
            isOver.note(1)
            return rest
        }
        _ = try await soon(moving: clock, by: .milliseconds(250)) { !isOver.noted.isEmpty }
        #expect(await reading.value == ["ended 53001"])
        // The test sees it some steps late.
        #expect(clock.now - began >= .seconds(15) && clock.now - began < .seconds(20))
    }

    @Test("Whoever watches a value gets the present one first; of what waits, the newest wins")
    func currentValue() async {
        let value = CurrentValue(1, waiting: 2)
        let early = value.stream()
        for number in 2...5 { value.send(number) }
        #expect(await take(1, of: value.stream()) == [5])
        #expect(await take(2, of: early) == [4, 5])
    }

    private func take(_ count: Int, of stream: AsyncStream<Int>) async -> [Int] {
        var taken: [Int] = []
        for await value in stream {
            taken.append(value)
            if taken.count == count { break }
        }
        return taken
    }
}
