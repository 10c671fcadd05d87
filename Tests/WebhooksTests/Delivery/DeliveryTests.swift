import FootlightModel
import FootlightTesting
import Foundation
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Webhooks

@Suite("Webhook delivery to an HTTP server", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct DeliveryTests {
    private func arrived(
        _ count: Int,
        at receiver: WebhookReceiver,
        within: Duration = .seconds(10)
    ) async throws -> Bool {
        try await eventually(within: within) { receiver.messages.count >= count }
    }

    /// Whether the outcome of everything sent is stored.
    private func settled(_ dispatcher: WebhookDispatcher, _ id: String) async throws -> Bool {
        try await eventually {
            try await dispatcher.deliveries(of: id, limit: 100).allSatisfy { $0.state != .pending }
        }
    }

    @Test("signs messages, and sends them in order over one connection")
    func message() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let dispatcher = try fixture.dispatcher()
            let endpoint = try await fixture.endpoint(dispatcher, at: receiver, port: port, types: ["room.*"])
            dispatcher.post(1...1, type: .stream(.trackEnabled))
            dispatcher.post(1...30)
            #expect(try await eventually { dispatcher.status.pending == 30 })
            try await fixture.delivering(dispatcher) { () async throws in
                #expect(try await arrived(30, at: receiver))
                #expect(try await settled(dispatcher, endpoint.id))
            }
            let messages = receiver.messages
            #expect(messages.numbers == Array(1...30) && receiver.connections == 1)
            #expect(messages.allSatisfy { $0.signers == [0] && $0.path == "/in" && $0.method == "POST" })
            #expect(Set(messages.map(\.id)).count == 30 && messages.allSatisfy { $0.id.hasPrefix("msg_") })
            #expect(messages[0].value("type") == "room.updated")
            #expect(messages[0].value("timestamp") == "2027-01-15T08:00:01.000Z")
            let places = messages.compactMap { $0.value("seq").flatMap { Int64($0) } }
            #expect(places.count == 30 && places == Set(places).sorted())
            let records = try await dispatcher.deliveries(of: endpoint.id, limit: 100)
            #expect(records.count == 30 && records.map(\.messageID) == messages.map(\.id).reversed())
            #expect(records.allSatisfy { $0.state == .delivered && $0.attempts.map(\.outcome.status) == [204] })
            let page = try await dispatcher.deliveries(of: endpoint.id, before: records[9].sequence, limit: 5)
            #expect(page == Array(records[10..<15]))
            #expect(dispatcher.status.pending == 0 && dispatcher.status.tries == [.delivered: 30])
        }
    }

    @Test(
        "an endpoint that recovers from every kind of failure receives all events in order, with unchanged ids"
    )
    func downThenUp() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            try await receiver.close()
            let dispatcher = try fixture.dispatcher(fixture.configuration { $0.deadline = 0.3 })
            let endpoint = try await fixture.endpoint(dispatcher, at: receiver, port: port)
            receiver.behave { number in
                switch number {
                case 1, 2: .answer(500)
                case 3: .hang
                case 4: .closeUnanswered
                case 5: .answer(503)
                case 8: .answer(502, body: 100_000)
                case 9: .answer(200, body: 100_000)
                default: .answer(200, body: 10)
                }
            }
            try await fixture.delivering(dispatcher) { () async throws in
                dispatcher.post(1...5)
                let isTried = try await eventually {
                    dispatcher.status.tries[.unreachable] ?? 0 > 1
                }
                #expect(isTried && receiver.messages.isEmpty && dispatcher.status.failing == 1)
                #expect(try await eventually { dispatcher.status.pending == 5 })
                try await receiver.open(port: port)
                #expect(try await arrived(11, at: receiver))
                #expect(try await settled(dispatcher, endpoint.id))
            }
            let messages = receiver.messages
            #expect(messages.numbers == [1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5])
            #expect(Set(messages.map { "\($0.id) \($0.body)" }).count == 5)
            #expect(messages.allSatisfy { $0.signers == [0] })
            #expect(try await eventually { dispatcher.status.healthy == 1 })
            let first = try #require(try await dispatcher.deliveries(of: endpoint.id, limit: 5).last)
            let kinds = Set(first.attempts.map(\.outcome.kind))
            #expect(kinds == [.unreachable, .refused, .timeout, .closed, .delivered])
            #expect(first.tries == first.attempts.last?.number)
        }
    }

    @Test("messages stored before a crash are sent by the next process, accepted ones are not sent again")
    func killed() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let first = try fixture.dispatcher()
            let endpoint = try await fixture.endpoint(first, at: receiver, port: port)
            try await fixture.delivering(first) { () async throws in
                first.post(1...3)
                #expect(try await arrived(3, at: receiver))
                #expect(try await settled(first, endpoint.id))
            }
            // Stored without a delivery task.
            first.post(4...9)
            #expect(try await eventually { first.status.pending == 6 })
            // The state after a crash: files that were not closed.
            let image = fixture.folder.file("image.sqlite")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: image + suffix)
            }
            let second = try fixture.dispatcher(path: image)
            #expect(second.endpoints().map(\.id) == [endpoint.id] && second.status.pending == 6)
            #expect(second.endpoints().map(\.secret) == [endpoint.secret])
            try await fixture.delivering(second) { () async throws in
                second.post(10...10)
                #expect(try await arrived(10, at: receiver))
            }
            #expect(receiver.messages.numbers == Array(1...10))
            #expect(receiver.messages.allSatisfy { $0.signers == [0] })
        }
    }

    @Test("410 disables an endpoint, drops pending and further messages, and calls the handler")
    func gone() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let dispatcher = try fixture.dispatcher()
            let endpoint = try await fixture.endpoint(dispatcher, at: receiver, port: port)
            receiver.behave { $0 == 1 ? .answer(410) : .answer(204) }
            dispatcher.post(1...3)
            #expect(try await eventually { dispatcher.status.pending == 3 })
            try await fixture.delivering(dispatcher) { () async throws in
                #expect(try await eventually { fixture.disabled.withLock { $0.count } == 1 })
                #expect(dispatcher.status.disabled == 1 && dispatcher.status.pending == 0)
                #expect(try dispatcher.endpoint(endpoint.id).disabled == .gone)
                dispatcher.post(4...4)
                #expect(try await settled(dispatcher, endpoint.id))
                let states = try await dispatcher.deliveries(of: endpoint.id, limit: 9).map(\.state)
                #expect(states == [.failed, .failed, .failed])
                // Enabled again, it receives further events.
                var draft = WebhookDraft()
                draft.isEnabled = true
                #expect(try await dispatcher.change(endpoint.id, draft).disabled == nil)
                dispatcher.post(5...5)
                #expect(try await arrived(2, at: receiver))
            }
            #expect(receiver.messages.numbers == [1, 5])
        }
    }

    @Test("does not follow redirects, honours Retry-After, and does not connect to private addresses")
    func redirected() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let (receiver, other) = (WebhookReceiver(group: fixture.group), WebhookReceiver(group: fixture.group))
            let port = try await receiver.open()
            let elsewhere = try await other.open()
            let open = try fixture.dispatcher()
            let endpoint = try await fixture.endpoint(open, at: receiver, port: port)
            receiver.behave { _ in .answer(302, ["location": "http://127.0.0.1:\(elsewhere)/"]) }
            let attempt = try await open.test(endpoint.id, type: .webhook(.test), data: Data("{}".utf8))
            #expect(attempt.outcome == DeliveryOutcome(status: 302) && attempt.outcome.kind == .redirect)
            #expect(receiver.messages.count == 1 && other.messages.isEmpty && other.connections == 0)
            receiver.behave { _ in .answer(429, ["retry-after": "7"]) }
            let busy = try await open.test(endpoint.id, type: .webhook(.test), data: Data("{}".utf8))
            #expect(busy.outcome == DeliveryOutcome(status: 429, retryAfter: 7))

            let path = fixture.folder.file("guarded.sqlite")
            let guarded = try fixture.dispatcher(path: path) { _, _, _ in .forbidden }
            let refused = try await fixture.endpoint(guarded, at: receiver, port: port)
            try await fixture.delivering(guarded) { () async throws in
                guarded.post(1...1)
                #expect(try await eventually { guarded.status.tries[.forbidden] ?? 0 > 0 })
            }
            let nowhere = try fixture.dispatcher(path: path) { _, _, _ in .notFound }
            let outcome = try await nowhere.test(refused.id, type: .webhook(.test), data: Data("{}".utf8)).outcome
            #expect(outcome == DeliveryOutcome(.nameNotFound))
            #expect(receiver.connections == 2)
        }
    }

    @Test("connects to the vetted address, without resolving the name again")
    func vettedAddress() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let dispatcher = try fixture.dispatcher { _, _, _ in .addresses(["127.0.0.1"]) }
            var draft = WebhookDraft()
            draft.url = "http://hooks.invalid:\(port)/in"
            let endpoint = try await dispatcher.create(draft)
            let attempt = try await dispatcher.test(endpoint.id, type: .webhook(.test), data: Data("{}".utf8))
            #expect(attempt.outcome == DeliveryOutcome(status: 204))
            #expect(receiver.messages.count == 1)
        }
    }

    @Test("sends nothing to a server without TLS, or to plain HTTP if not allowed")
    func insecure() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let strict = try fixture.dispatcher(fixture.configuration { $0.allowsPlainHTTP = false })
            var draft = WebhookDraft()
            draft.url = "http://127.0.0.1:\(port)/"
            await #expect(throws: WebhookFault.self) { try await strict.create(draft) }
            draft.url = "https://127.0.0.1:\(port)/"
            let endpoint = try await strict.create(draft)
            let outcome = try await strict.test(endpoint.id, type: .webhook(.test), data: Data("{}".utf8)).outcome
            #expect(outcome.kind == .tls || outcome.kind == .closed)
            #expect(receiver.messages.isEmpty)
        }
    }

    @Test("a hanging endpoint does not delay others")
    func isolation() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let (slow, quick) = (WebhookReceiver(group: fixture.group), WebhookReceiver(group: fixture.group))
            slow.behave { _ in .hang }
            let dispatcher = try fixture.dispatcher(fixture.configuration { $0.deadline = 30 })
            _ = try await fixture.endpoint(dispatcher, at: slow, port: try await slow.open())
            _ = try await fixture.endpoint(dispatcher, at: quick, port: try await quick.open())
            try await fixture.delivering(dispatcher) { () async throws in
                dispatcher.post(1...20)
                #expect(try await arrived(20, at: quick, within: .seconds(5)))
                #expect(try await arrived(1, at: slow, within: .seconds(5)))
            }
            #expect(quick.messages.numbers == Array(1...20) && slow.messages.numbers == [1])
        }
    }

    @Test("a rotation signs with both secrets; an accepted test message retries pending ones at once")
    func rotationAndTest() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let slowRetries = RetrySchedule(delays: [3600, 3600], probeInterval: 3600)
            let dispatcher = try fixture.dispatcher(fixture.configuration { $0.schedule = slowRetries })
            let endpoint = try await fixture.endpoint(dispatcher, at: receiver, port: port)
            receiver.behave { $0 == 1 ? .answer(500) : .answer(204) }
            try await fixture.delivering(dispatcher) { () async throws in
                dispatcher.post(1...2)
                #expect(try await eventually { dispatcher.status.failing == 1 })
                let rotated = try await dispatcher.rotate(endpoint.id)
                #expect(rotated.secret != endpoint.secret && rotated.former?.secret == endpoint.secret)
                receiver.setSecrets([endpoint.secret, rotated.secret])
                let attempt = try await dispatcher.test(endpoint.id, type: .webhook(.test), data: Data("{}".utf8))
                #expect(attempt.outcome.kind == .delivered)
                #expect(try await arrived(4, at: receiver))
            }
            let messages = receiver.messages
            #expect(
                messages.map { $0.value("type") } == ["room.updated", "webhook.test", "room.updated", "room.updated"]
            )
            #expect(messages.numbers == [1, 1, 2] && messages[0].signers == [0])
            #expect(messages.dropFirst().allSatisfy { $0.signers == [0, 1] && $0.signatures == 2 })
        }
    }
}
