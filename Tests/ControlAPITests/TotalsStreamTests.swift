import FootlightTesting
import Foundation
import GatewayModel
import NIOCore
import Stage
import Testing
import Viewership

@testable import ControlAPI

@Suite("All rooms' figures as they change")
struct TotalsStreamTests {
    @Test("All rooms as they change, each event whole; who comes back gets what it missed first")
    func events() async throws {
        try await ControlServer.run { (server) async throws in
            func set(_ concurrent: Int) {
                server.viewership.set(
                    RoomViewership(
                        room: "a",
                        concurrent: concurrent,
                        asOf: Date(),
                        byProtocol: [.rtmp: concurrent]
                    )
                )
            }
            set(3)
            let client = try server.events("/v1/viewership/events")
            defer { client.close() }
            let beginning = await Self.blocks(2, of: client)
            set(4)
            let seen = beginning + (await Self.blocks(1, of: client))
            #expect(seen.map(\.retry) == ["2000", nil, nil] && seen.map(\.name) == [nil, "viewership", "viewership"])
            let numbers = seen.compactMap { $0.id.flatMap { UInt64($0) } }
            #expect(numbers.count == 2 && numbers[0] < numbers[1])
            // Milliseconds since 1970: never those of an earlier run.
            #expect(abs(Double(numbers[0]) / 1000 - Date().timeIntervalSince1970) < 60)
            let known = try #require(seen[1].id)
            let back = try server.events("/v1/viewership/events", headers: ["Last-Event-ID": known])
            defer { back.close() }
            let missed = await Self.blocks(2, of: back)
            #expect(missed.map(\.id) == [nil, seen[2].id])
            let stranger = try server.events("/v1/viewership/events?last_event_id=7")
            defer { stranger.close() }
            let latest = await Self.blocks(2, of: stranger).last?.id.flatMap { UInt64($0) }
            #expect((latest ?? 0) >= numbers[1])
            #expect(try await server.ask("GET", "/v1/viewership/events", as: .nobody).refusal == "401/20101")
        }
    }

    @Test("Where no figure changes an event comes now and then only, however the moment of the figures goes on")
    func idleEvents() throws {
        let clock = ManualClock()
        let stream = TotalsStream(clock: clock)
        var figures = RoomViewership(room: "a", concurrent: 3, asOf: Date(), byProtocol: [.rtmp: 3])
        /// The event of the next second.
        func next() throws -> EventStream.Frame {
            clock.advance(by: .seconds(1))
            figures.asOf += 1
            figures.staleMs = (figures.staleMs + 300) % 1000
            let report = ViewershipResource(figures)
            return try stream.frame { ViewershipTotalsResource(total: report, rooms: [report]) }
        }
        let first = try next()
        for second in 1..<15 { #expect(try next().number == first.number, "\(second)") }
        let repeated = try next()
        #expect(repeated.number > first.number)
        #expect(try next().number == repeated.number)
        figures.concurrent = 4
        let changed = try next()
        #expect(changed.number > repeated.number)
        #expect(String(buffer: changed.bytes).contains(#""concurrent_viewers":4"#))
        // Time that somebody watched is news each second.
        figures.watchTimeSeconds += 4
        #expect(try next().number > changed.number)
    }

    private static func blocks(_ count: Int, of client: EventClient) async -> [EventClient.Event] {
        var blocks: [EventClient.Event] = []
        for await block in client.events {
            blocks.append(block)
            if blocks.count == count { break }
        }
        return blocks
    }
}
