import FootlightTesting
import Foundation
import FootlightModel
import Synchronization
import TestSupport
import Testing
import Webhooks

@testable import ControlAPI
@testable import Stage

@Suite("Custom event routes")
struct CustomEventRoutesTests {
    private static let path = "/v1/rooms/show/events"

    private func bearer(
        _ server: ControlServer,
        _ identity: String,
        room: String = "show",
        rights: Set<String> = []
    ) async throws -> ControlServer.Bearer {
        let claims = AccessClaims(
            identity: identity,
            role: .participant,
            room: room,
            modes: [.receiveOnly],
            administers: rights,
            expiresAt: Date().timeIntervalSince1970 + 600
        )
        return .token(try await server.tokens.issue(claims))
    }

    @Test("S15 custom events reach the readers of a room in order, with their sender")
    func order() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let eve = try await bearer(server, "eve")
            let joined = try await server.join("show", "eve", "RECV_ONLY", as: eve).decode(JoinAnswer.self)
            let client = try server.events(Self.path)
            var events = client.events.makeAsyncIterator()
            _ = await events.next()
            #expect(await events.next()?.name == "room.snapshot")

            let poll = #"{"type":"poll.open","data":{"question":"why?","answers":["a",{"b":1.5}]}}"#
            let sent = try await server.ask("POST", Self.path, poll)
            #expect(sent.status == 202)
            let answer = try sent.decode(EventResource.self)
            for number in 0..<5 {
                let body = #"{"type":"reaction","data":{"emoji":"\#(number)"}}"#
                #expect(try await server.ask("POST", Self.path, body, as: eve).status == 202)
            }
            let first = try #require(await events.next())
            #expect(first.name == "custom.event" && first.data == answer && first.id == String(answer.rev))
            let custom = try #require(first.data?.custom)
            #expect(custom.type == "poll.open" && custom.participantSID == nil && custom.identity == nil)
            #expect(custom.data["answers"] == .array([.string("a"), .object(["b": .number(1.5)])]))
            #expect(first.text?.contains(#""participant_sid":null"#) == true)
            var known = answer.rev
            for number in 0..<5 {
                let next = try #require(await events.next()?.data)
                #expect(next.rev == known + 1 && next.custom?.data == ["emoji": .string("\(number)")])
                #expect(next.custom?.identity == "eve" && next.custom?.participantSID == joined.participant.sid)
                known = next.rev
            }
            client.close()
            let empty = try await server.ask("POST", Self.path, #"{"type":"empty"}"#)
            #expect(try empty.decode(EventResource.self).custom?.data == [:])
        }
    }

    @Test("Participants and those who run the show send custom events; others cannot")
    func rights() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            try await server.makeRoom("other")
            let body = #"{"type":"x"}"#
            func ask(_ bearer: ControlServer.Bearer) async throws -> ControlServer.Answer {
                try await server.ask("POST", Self.path, body, as: bearer)
            }
            #expect(try await ask(.unauthenticated).refusal == "401/20101")
            #expect(try await ask(bearer(server, "eve")).refusal == "409/3035", "not before it has joined")
            #expect(try await ask(bearer(server, "eve", room: "other")).refusal == "403/20106")
            for role in [AccessRole.mixer, .monitor] {
                let token = try await server.tokens.issue(identity: "m", room: "show", role: role, expiresIn: 60)
                #expect(try await ask(.token(token)).refusal == "403/20106")
            }
            for right in ["streaming", "participants"] {
                let sent = try await ask(bearer(server, "boss", rights: [right]))
                #expect(try sent.decode(EventResource.self).custom?.identity == nil)
            }
            let boss = try await bearer(server, "boss", rights: ["streaming"])
            _ = try await server.join("show", "boss", "RECV_ONLY", as: boss)
            #expect(try await ask(boss).decode(EventResource.self).custom?.identity == "boss")
            #expect(try await server.ask("POST", "/v1/rooms/none/events", body).refusal == "404/53106")
            #expect(!server.log.lines.contains { "\($0)".contains("/events") }, "not worth a line each")
        }
    }

    @Test(
        "Rejects an invalid event, naming the field",
        arguments: [
            (#"{"type":""}"#, "400/3073", "type"), (#"{"type":"a b"}"#, "400/3073", "type"),
            (#"{"data":{}}"#, "400/53004", "type"), (#"{"type":"x","data":[]}"#, "400/53004", "data"),
            (#"{"type":"x","data":{"a":""# + String(repeating: "b", count: 4096) + #""}}"#, "400/3073", "data"),
        ]
    )
    func bounds(body: String, refusal: String, field: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let answer = try await server.ask("POST", Self.path, body)
            #expect(answer.refusal == refusal && answer.error?.message.contains(field) == true)
        }
    }

    @Test("Too many events are refused with Retry-After; a raised hand counts as one")
    func rate() async throws {
        try await ControlServer.run(clock: ManualClock()) { (server) async throws in
            try await server.makeRoom()
            let eve = try await bearer(server, "eve")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            for _ in 0..<10 {
                #expect(try await server.ask("POST", Self.path, #"{"type":"x"}"#, as: eve).status == 202)
            }
            let refused = try await server.ask("POST", Self.path, #"{"type":"x"}"#, as: eve)
            #expect(refused.refusal == "429/429" && refused.headers["retry-after"] == "1")
            #expect(refused.error?.message == "Too many events are sent" && refused.error?.retryable == true)
            #expect(try await server.ask("POST", "/v1/rooms/show/hands", as: eve).refusal == "429/429")
            #expect(try await server.ask("POST", Self.path, #"{"type":"x"}"#).status == 202)
        }
    }

    @Test("Webhooks receive custom events and raised hands in the format of the event stream")
    func webhooks() async throws {
        try await ControlServer.run { (server) async throws in
            let hook = #"{"url":"https://hooks.example/in","types":["custom.event","hand.*"]}"#
            let made = try await server.ask("POST", "/v1/webhooks", hook).decode(WebhookResource.self)
            let routes = server.routes()
            let received = EventLog()
            let observation = server.directory.observe { event in
                guard let news = routes.webhookEvents.webhookEvent(of: event) else { return }
                received.add(news)
                server.webhooks.post(news)
            }
            try await server.makeRoom()
            let eve = try await bearer(server, "eve")
            _ = try await server.join("show", "eve", "RECV_ONLY", as: eve)
            _ = try await server.ask("POST", Self.path, #"{"type":"reaction","data":{"emoji":"x"}}"#, as: eve)
            _ = try await server.ask("POST", "/v1/rooms/show/hands", as: eve)
            _ = try await server.ask("DELETE", "/v1/rooms/show/hands/eve", as: eve)
            let names = ["custom.event", "hand.raised", "hand.lowered"]
            #expect(received.names.filter { names.contains($0) } == names)
            let body = try #require(received.data(of: "custom.event"))
            #expect(try WireJSON.decode(EventResource.self, from: body).custom?.identity == "eve")
            let path = "/v1/webhooks/\(made.id)/deliveries"
            let isThere = try await eventually {
                try await server.ask("GET", path).decode(WebhookDeliveryList.self).deliveries.map(\.type.rawValue)
                    == names.reversed()
            }
            #expect(isThere)
            observation.cancel()
        }
    }

    /// Records the events that webhooks receive.
    private final class EventLog: Sendable {
        private let events = Mutex<[WebhookEvent]>([])

        func add(_ event: WebhookEvent) { events.withLock { $0.append(event) } }

        var names: [String] { events.withLock { $0.map(\.type.rawValue) } }

        func data(of name: String) -> Data? {
            events.withLock { $0.first { $0.type.rawValue == name } }.flatMap { try? $0.data() }
        }
    }
}
