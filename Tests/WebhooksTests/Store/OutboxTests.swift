import FootlightModel
import FootlightTesting
import Foundation
import GRDB
import OutboundHTTP
import Stage
import TestSupport
import Testing

@testable import Persistence
@testable import Webhooks

@Suite("Webhook outbox", .timeLimit(.minutes(1)))
struct OutboxTests {
    @Test("drops and counts the oldest deliveries above the limit, and sends the others in order")
    func bounded() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let dispatcher = try fixture.dispatcher(
                fixture.configuration {
                    $0.maximumPending = 5
                    $0.maximumBytes = 100
                }
            )
            let endpoint = try await fixture.endpoint(dispatcher, at: receiver, port: port)
            for number in 1...12 {
                dispatcher.post(number...number)
                #expect(
                    try await eventually { dispatcher.pending(of: endpoint.id) == min(number, 5) }
                )
                if number > 5 {
                    #expect(try await eventually { dispatcher.status.dropped == number - 5 })
                }
            }
            dispatcher.post(WebhookEvent(.stream(.roomUpdated), at: 0) { Data(repeating: 0x30, count: 101) })
            #expect(try await eventually { dispatcher.status.dropped == 8 })
            #expect(try dispatcher.endpoint(endpoint.id).health.dropped == 7)
            try await fixture.delivering(dispatcher) { () async throws in
                #expect(try await eventually { receiver.messages.count == 5 })
            }
            #expect(receiver.messages.numbers == Array(8...12))
        }
    }

    @Test("quarantines a damaged database, and continues with a new one and the known endpoints")
    func damaged() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let dispatcher = try fixture.dispatcher()
            _ = try await fixture.endpoint(dispatcher, at: receiver, port: port)
            await dispatcher.close()
            for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: fixture.path + suffix) {
                try FileManager.default.removeItem(atPath: fixture.path + suffix)
            }
            try Data(repeating: 0xA5, count: 9000).write(to: URL(fileURLWithPath: fixture.path))
            try await fixture.delivering(dispatcher) { () async throws in
                dispatcher.post(1...2)
                #expect(try await eventually { receiver.messages.count == 2 })
            }
            #expect(receiver.messages.numbers == [1, 2] && receiver.messages.allSatisfy { $0.signers == [0] })
            #expect(dispatcher.status.quarantined == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
            #expect(names.contains { $0.hasPrefix("webhooks.sqlite.aside-") })
            #expect(try fixture.dispatcher().endpoints().count == 1)
        }
    }

    @Test("creates, changes, disables and removes endpoints, which survive a restart")
    func endpoints() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let dispatcher = try fixture.dispatcher(fixture.configuration { $0.maximumEndpoints = 2 })
            var draft = WebhookDraft()
            draft.url = "https://a.example/in"
            draft.text = "billing"
            draft.types = ["room.*"]
            draft.room = .some("show")
            let first = try await dispatcher.create(draft)
            let second = try await dispatcher.create(draft)
            #expect(first.secret != second.secret && first.id != second.id)
            await #expect(throws: WebhookFault.tooMany(2)) { try await dispatcher.create(draft) }
            draft.text = String(repeating: "x", count: 257)
            await #expect(throws: WebhookFault.self) { try await dispatcher.change(first.id, draft) }

            var change = WebhookDraft()
            change.url = "https://b.example/"
            change.room = .some(nil)
            change.isEnabled = false
            let changed = try await dispatcher.change(second.id, change)
            #expect(changed.address.target.host == "b.example" && changed.filter == EventFilter(types: ["room.*"]))
            #expect(changed.disabled == .byOperator && changed.text == "billing" && changed.secret == second.secret)
            dispatcher.post(1...1)
            #expect(try await eventually { dispatcher.status.pending == 1 })

            let later = try fixture.dispatcher()
            #expect(later.endpoints() == dispatcher.endpoints())
            #expect(later.pending(of: first.id) == 1 && later.pending(of: second.id) == 0)
            try await dispatcher.remove(first.id)
            await #expect(throws: WebhookFault.notFound) { try await dispatcher.remove(first.id) }
            #expect(dispatcher.endpoints().map(\.id) == [second.id])
            #expect(try fixture.dispatcher().endpoints().map(\.id) == [second.id])
        }
    }

    @Test("stores a mark with its event, also without recipients")
    func marks() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let dispatcher = try fixture.dispatcher()
            #expect(try await dispatcher.mark("place") == nil)
            for value in [7, 9] as [Int64] {
                dispatcher.post(WebhookEvent(.webhook(.broadcastSummary), at: 0, mark: ("place", value)) { Data() })
                #expect(try await eventually { try await dispatcher.mark("place") == value })
            }
            #expect(try await fixture.dispatcher().mark("place") == 9)
        }
    }

    @Test("clamps the counters of a corrupt database so that they can be incremented")
    func damagedCounts() async throws {
        try await DispatcherFixture.run { (fixture) async throws in
            let receiver = WebhookReceiver(group: fixture.group)
            let port = try await receiver.open()
            let first = try fixture.dispatcher()
            let endpoint = try await fixture.endpoint(first, at: receiver, port: port)
            first.post(1...1)
            #expect(try await eventually { first.pending(of: endpoint.id) == 1 })
            await first.close()
            let database = try OutboxDatabase(path: fixture.path, lockTimeout: 1)
            try database.store.write { database in
                try database.execute(
                    sql: """
                        PRAGMA defer_foreign_keys = ON;
                        UPDATE endpoint SET failures = 9223372036854775807, dropped = 9223372036854775807;
                        UPDATE delivery SET tries = 9223372036854775807, seq = 9223372036854775807;
                        UPDATE message SET seq = 9223372036854775807;
                        """
                )
            }
            database.close()
            let later = try fixture.dispatcher()
            later.post(2...2)
            try await fixture.delivering(later) { () async throws in
                #expect(try await eventually { receiver.messages.count == 2 })
            }
        }
    }
}
