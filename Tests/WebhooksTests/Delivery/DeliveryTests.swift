import FootlightTesting
import Foundation
import Synchronization
import Testing

@testable import Webhooks

@Suite("Webhooks from the event to a real server", .timeLimit(.minutes(1)))
struct DeliveryTests {
    private func arrived(_ count: Int, at receiver: Receiver, within: Duration = .seconds(10)) async throws -> Bool {
        try await eventually(within: within) { receiver.letters.count >= count }
    }

    /// All that was sent is written down.
    private func settled(_ dispatcher: WebhookDispatcher, _ id: String) async throws -> Bool {
        try await eventually {
            try await dispatcher.deliveries(of: id, limit: 100).allSatisfy { $0.state != .pending }
        }
    }

    @Test("A message is signed, says what happened, and goes over one connection with the next ones, in order")
    func message() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let dispatcher = try stand.dispatcher()
            let endpoint = try await stand.endpoint(dispatcher, at: receiver, port: port, types: ["room.*"])
            dispatcher.post(1...1, type: "track.enabled")
            dispatcher.post(1...30)
            #expect(try await eventually { dispatcher.status.pending == 30 })
            try await stand.delivering(dispatcher) { () async throws in
                #expect(try await arrived(30, at: receiver))
                #expect(try await settled(dispatcher, endpoint.id))
            }
            let letters = receiver.letters
            #expect(letters.numbers == Array(1...30) && receiver.connections == 1)
            #expect(letters.allSatisfy { $0.signers == [0] && $0.path == "/in" && $0.method == "POST" })
            #expect(Set(letters.map(\.id)).count == 30 && letters.allSatisfy { $0.id.hasPrefix("msg_") })
            #expect(letters[0].value("type") == "room.updated")
            #expect(letters[0].value("timestamp") == "2027-01-15T08:00:01.000Z")
            let places = letters.compactMap { $0.value("seq").flatMap { Int64($0) } }
            #expect(places.count == 30 && places == Set(places).sorted())
            let records = try await dispatcher.deliveries(of: endpoint.id, limit: 100)
            #expect(records.count == 30 && records.map(\.messageID) == letters.map(\.id).reversed())
            #expect(records.allSatisfy { $0.state == .delivered && $0.attempts.map(\.outcome.status) == [204] })
            let page = try await dispatcher.deliveries(of: endpoint.id, before: records[9].sequence, limit: 5)
            #expect(page == Array(records[10..<15]))
            #expect(dispatcher.status.pending == 0 && dispatcher.status.tries == [.delivered: 30])
        }
    }

    @Test(
        "An endpoint that is down, refuses, hangs and hangs up gets every event once it is well, in order, by the same id"
    )
    func downThenUp() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            try await receiver.close()
            let dispatcher = try stand.dispatcher(stand.configuration { $0.deadline = 0.3 })
            let endpoint = try await stand.endpoint(dispatcher, at: receiver, port: port)
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
            try await stand.delivering(dispatcher) { () async throws in
                dispatcher.post(1...5)
                let isTried = try await eventually {
                    dispatcher.status.tries[.unreachable] ?? 0 > 1
                }
                #expect(isTried && receiver.letters.isEmpty && dispatcher.status.failing == 1)
                #expect(try await eventually { dispatcher.status.pending == 5 })
                try await receiver.open(port: port)
                #expect(try await arrived(11, at: receiver))
                #expect(try await settled(dispatcher, endpoint.id))
            }
            let letters = receiver.letters
            #expect(letters.numbers == [1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5])
            #expect(Set(letters.map { "\($0.id) \($0.body)" }).count == 5)
            #expect(letters.allSatisfy { $0.signers == [0] })
            #expect(try await eventually { dispatcher.status.healthy == 1 })
            let first = try #require(try await dispatcher.deliveries(of: endpoint.id, limit: 5).last)
            let kinds = Set(first.attempts.map(\.outcome.kind))
            #expect(kinds == [.unreachable, .refused, .timeout, .closed, .delivered])
            #expect(first.tries == first.attempts.last?.number)
        }
    }

    @Test("What was written when the process was killed is sent by the next one, and what was taken is not sent again")
    func killed() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let first = try stand.dispatcher()
            let endpoint = try await stand.endpoint(first, at: receiver, port: port)
            try await stand.delivering(first) { () async throws in
                first.post(1...3)
                #expect(try await arrived(3, at: receiver))
                #expect(try await settled(first, endpoint.id))
            }
            // Written, and nobody delivers.
            first.post(4...9)
            #expect(try await eventually { first.status.pending == 6 })
            // What a killed process leaves behind: its files, nothing closed and nothing tidied up.
            let image = stand.folder.file("image.sqlite")
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: stand.path + suffix, toPath: image + suffix)
            }
            let second = try stand.dispatcher(stand.configuration { $0.path = image })
            #expect(second.endpoints().map(\.id) == [endpoint.id] && second.status.pending == 6)
            #expect(second.endpoints().map(\.secret) == [endpoint.secret])
            try await stand.delivering(second) { () async throws in
                second.post(10...10)
                #expect(try await arrived(10, at: receiver))
            }
            #expect(receiver.letters.numbers == Array(1...10))
            #expect(receiver.letters.allSatisfy { $0.signers == [0] })
        }
    }

    @Test("410 turns an endpoint off: what waits is given up, what comes is not kept for it, and somebody is told")
    func gone() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let dispatcher = try stand.dispatcher()
            let endpoint = try await stand.endpoint(dispatcher, at: receiver, port: port)
            receiver.behave { $0 == 1 ? .answer(410) : .answer(204) }
            dispatcher.post(1...3)
            #expect(try await eventually { dispatcher.status.pending == 3 })
            try await stand.delivering(dispatcher) { () async throws in
                #expect(try await eventually { stand.disabled.withLock { $0.count } == 1 })
                #expect(dispatcher.status.disabled == 1 && dispatcher.status.pending == 0)
                #expect(try dispatcher.endpoint(endpoint.id).disabled == .gone)
                dispatcher.post(4...4)
                #expect(try await settled(dispatcher, endpoint.id))
                let states = try await dispatcher.deliveries(of: endpoint.id, limit: 9).map(\.state)
                #expect(states == [.failed, .failed, .failed])
                // On again, it begins with what comes next.
                var draft = WebhookDraft()
                draft.isEnabled = true
                #expect(try await dispatcher.change(endpoint.id, draft).disabled == nil)
                dispatcher.post(5...5)
                #expect(try await arrived(2, at: receiver))
            }
            #expect(receiver.letters.numbers == [1, 5])
        }
    }

    @Test("No redirect is followed, Retry-After is read, and a private address is not connected to")
    func redirected() async throws {
        try await Stand.run { (stand) async throws in
            let (receiver, other) = (Receiver(group: stand.group), Receiver(group: stand.group))
            let port = try await receiver.open()
            let elsewhere = try await other.open()
            let open = try stand.dispatcher()
            let endpoint = try await stand.endpoint(open, at: receiver, port: port)
            receiver.behave { _ in .answer(302, ["location": "http://127.0.0.1:\(elsewhere)/"]) }
            let attempt = try await open.test(endpoint.id, type: "webhook.test", data: Data("{}".utf8))
            #expect(attempt.outcome == DeliveryOutcome(status: 302) && attempt.outcome.kind == .redirect)
            #expect(receiver.letters.count == 1 && other.letters.isEmpty && other.connections == 0)
            receiver.behave { _ in .answer(429, ["retry-after": "7"]) }
            let busy = try await open.test(endpoint.id, type: "webhook.test", data: Data("{}".utf8))
            #expect(busy.outcome == DeliveryOutcome(status: 429, retryAfter: 7))

            let path = stand.folder.file("guarded.sqlite")
            let guarded = try stand.dispatcher(stand.configuration { $0.path = path }) { _, _, _ in .forbidden }
            let refused = try await stand.endpoint(guarded, at: receiver, port: port)
            try await stand.delivering(guarded) { () async throws in
                guarded.post(1...1)
                #expect(try await eventually { guarded.status.tries[.forbidden] ?? 0 > 0 })
            }
            let nowhere = try stand.dispatcher(stand.configuration { $0.path = path }) { _, _, _ in .notFound }
            let outcome = try await nowhere.test(refused.id, type: "webhook.test", data: Data("{}".utf8)).outcome
            #expect(outcome == DeliveryOutcome(.nameNotFound))
            #expect(receiver.connections == 2)
        }
    }

    @Test("A server that speaks no TLS, and plain HTTP where it is not allowed, get nothing")
    func insecure() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let strict = try stand.dispatcher(stand.configuration { $0.allowsPlainHTTP = false })
            var draft = WebhookDraft()
            draft.url = "http://127.0.0.1:\(port)/"
            await #expect(throws: WebhookFault.self) { try await strict.create(draft) }
            draft.url = "https://127.0.0.1:\(port)/"
            let endpoint = try await strict.create(draft)
            let outcome = try await strict.test(endpoint.id, type: "webhook.test", data: Data("{}".utf8)).outcome
            #expect(outcome.kind == .tls || outcome.kind == .closed)
            #expect(receiver.letters.isEmpty)
        }
    }

    @Test("An endpoint that hangs delays no other")
    func isolation() async throws {
        try await Stand.run { (stand) async throws in
            let (slow, quick) = (Receiver(group: stand.group), Receiver(group: stand.group))
            slow.behave { _ in .hang }
            let dispatcher = try stand.dispatcher(stand.configuration { $0.deadline = 30 })
            _ = try await stand.endpoint(dispatcher, at: slow, port: try await slow.open())
            _ = try await stand.endpoint(dispatcher, at: quick, port: try await quick.open())
            try await stand.delivering(dispatcher) { () async throws in
                dispatcher.post(1...20)
                #expect(try await arrived(20, at: quick, within: .seconds(5)))
                #expect(try await arrived(1, at: slow, within: .seconds(5)))
            }
            #expect(quick.letters.numbers == Array(1...20) && slow.letters.numbers == [1])
        }
    }

    @Test("A rotation signs with both secrets; a test that is taken brings at once what waits")
    func rotationAndTest() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let patient = RetrySchedule(delays: [3600, 3600], probing: 3600)
            let dispatcher = try stand.dispatcher(stand.configuration { $0.schedule = patient })
            let endpoint = try await stand.endpoint(dispatcher, at: receiver, port: port)
            receiver.behave { $0 == 1 ? .answer(500) : .answer(204) }
            try await stand.delivering(dispatcher) { () async throws in
                dispatcher.post(1...2)
                #expect(try await eventually { dispatcher.status.failing == 1 })
                let rotated = try await dispatcher.rotate(endpoint.id)
                #expect(rotated.secret != endpoint.secret && rotated.former?.secret == endpoint.secret)
                receiver.know([endpoint.secret, rotated.secret])
                let attempt = try await dispatcher.test(endpoint.id, type: "webhook.test", data: Data("{}".utf8))
                #expect(attempt.outcome.kind == .delivered)
                #expect(try await arrived(4, at: receiver))
            }
            let letters = receiver.letters
            #expect(
                letters.map { $0.value("type") } == ["room.updated", "webhook.test", "room.updated", "room.updated"]
            )
            #expect(letters.numbers == [1, 1, 2] && letters[0].signers == [0])
            #expect(letters.dropFirst().allSatisfy { $0.signers == [0, 1] && $0.signatures == 2 })
        }
    }
}
