import FootlightTesting
import Foundation
import FootlightModel
import NIOCore
import Stage
import TestSupport
import Testing
import Viewership

@testable import ControlAPI

@Suite("The viewership event stream")
struct TotalsStreamTests {
    @Test("Every event is complete, and a reconnecting reader first receives the missed ones")
    func events() async throws {
        try await ControlServer.run { (server) async throws in
            func set(_ concurrent: Int) {
                server.viewership.set(
                    RoomViewership(
                        room: "a",
                        concurrent: concurrent,
                        asOf: Date().timeIntervalSince1970,
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
            // Milliseconds since 1970, so that numbers of an earlier run are lower.
            #expect(abs(Double(numbers[0]) / 1000 - Date().timeIntervalSince1970) < 60)
            let known = try #require(seen[1].id)
            let back = try server.events("/v1/viewership/events", headers: ["Last-Event-ID": known])
            defer { back.close() }
            let missed = await Self.blocks(2, of: back)
            #expect(missed.map(\.id) == [nil, seen[2].id])
            let outsider = try server.events("/v1/viewership/events?last_event_id=7")
            defer { outsider.close() }
            let latest = await Self.blocks(2, of: outsider).last?.id.flatMap { UInt64($0) }
            #expect((latest ?? 0) >= numbers[1])
            #expect(try await server.ask("GET", "/v1/viewership/events", as: .unauthenticated).refusal == "401/20101")
        }
    }

    @Test("Without a changed figure only keep-alive events are sent, although the time advances")
    func idleEvents() throws {
        let clock = ManualClock()
        let stream = TotalsStream(clock: clock)
        var figures = RoomViewership(
            room: "a",
            concurrent: 3,
            asOf: Date().timeIntervalSince1970,
            byProtocol: [.rtmp: 3]
        )
        /// Returns the event of the next second.
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
        // Watch time changes each second.
        figures.counts.watched += 4000
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

@Suite("Limits of viewership and level streams", .enabled(if: TestRun.isFull))
struct StreamLimitTests {
    @Test(
        "200 streams are open; one more is refused with Retry-After, and admitted when one has ended",
        arguments: ["/v1/viewership/events", "/v1/rooms/show/levels"]
    )
    func limit(path: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let token = try await server.tokens.issueOperator(expiresIn: 600)
            func open() async throws -> (client: NonReadingHTTPClient, head: String) {
                let client = try NonReadingHTTPClient(port: server.boundPort, path: path, token: token)
                return (client, try await client.readSome())
            }
            var clients: [NonReadingHTTPClient] = []
            for number in 0..<200 {
                let (client, head) = try await open()
                #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("text/event-stream"), "\(number)")
                clients.append(client)
            }
            let refused = try await server.ask("GET", path)
            #expect(refused.refusal == "503/53006" && refused.headers["retry-after"] == "5")
            #expect(refused.error?.retryable == true && refused.error?.retryAfter == 5)
            // Open streams are kept.
            #expect(try await open().head.hasPrefix("HTTP/1.1 503"))
            clients.removeFirst()
            let isFree = try await eventually {
                let (client, head) = try await open()
                guard head.hasPrefix("HTTP/1.1 200") else { return false }
                clients.append(client)
                return true
            }
            #expect(isFree && clients.count == 200)
            #expect(try await server.ask("GET", path).refusal == "503/53006")
        }
    }

    @Test(
        "A participant has four level streams, and a client a limited number of all kinds; operators are not limited"
    )
    func shares() async throws {
        try await ControlServer.run(streamsPerClient: 8) { (server) async throws in
            try await server.makeRoom()
            let `operator` = try await server.tokens.issueOperator(expiresIn: 600)
            func token(_ identity: String) async throws -> String {
                try await server.tokens.issue(identity: identity, room: "show", mode: .receiveOnly, expiresIn: 600)
            }
            func open(_ path: String, _ token: String) async throws -> (client: NonReadingHTTPClient, head: String) {
                let client = try NonReadingHTTPClient(port: server.boundPort, path: path, token: token)
                return (client, String(try await client.readSome().prefix(12)))
            }
            let levels = "/v1/rooms/show/levels"
            let ann = try await token("ann")
            var clients: [NonReadingHTTPClient] = []
            for _ in 0..<4 {
                let (client, head) = try await open(levels, ann)
                #expect(head == "HTTP/1.1 200")
                clients.append(client)
            }
            #expect(try await open(levels, ann).head == "HTTP/1.1 429")
            // A second client: four more of its own, which reach the client's limit.
            let ben = try await token("ben")
            for _ in 0..<4 {
                let (client, head) = try await open(levels, ben)
                #expect(head == "HTTP/1.1 200")
                clients.append(client)
            }
            #expect(try await open("/v1/rooms/show/events", try await token("eve")).head == "HTTP/1.1 429")
            #expect(try await open(levels, `operator`).head == "HTTP/1.1 200")
            clients.removeAll()
            let isFree = try await eventually { try await open(levels, ann).head == "HTTP/1.1 200" }
            #expect(isFree)
        }
    }

    @Test("A PNG snapshot requires a token that may read the room; an unknown room has neither format")
    func frames() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let path = "/v1/rooms/show/snapshot"
            #expect(try await server.ask("GET", path + ".png", as: .unauthenticated).refusal == "401/20101")
            #expect(try await server.ask("GET", path + ".png").status == 404)
            #expect(try await server.ask("GET", path + ".jpg", as: .unauthenticated).status == 404)
        }
    }
}
