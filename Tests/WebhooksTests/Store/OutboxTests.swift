import FootlightTesting
import Foundation
import GRDB
import SQLiteStore
import Testing

@testable import Webhooks

@Suite("The outbox of webhooks", .timeLimit(.minutes(1)))
struct OutboxTests {
    @Test("Beyond its bound the oldest are dropped and counted, and those that stay are sent in order")
    func bounded() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let dispatcher = try stand.dispatcher(
                stand.configuration {
                    $0.maximumPending = 5
                    $0.maximumBytes = 100
                }
            )
            let endpoint = try await stand.endpoint(dispatcher, at: receiver, port: port)
            for number in 1...12 {
                dispatcher.post(number...number)
                #expect(
                    try await eventually { dispatcher.pending(of: endpoint.id) == min(number, 5) }
                )
                if number > 5 {
                    #expect(try await eventually { dispatcher.status.dropped == number - 5 })
                }
            }
            dispatcher.post(WebhookEvent("room.updated", at: 0) { Data(repeating: 0x30, count: 101) })
            #expect(try await eventually { dispatcher.status.dropped == 8 })
            #expect(try dispatcher.endpoint(endpoint.id).health.dropped == 7)
            try await stand.delivering(dispatcher) { () async throws in
                #expect(try await eventually { receiver.letters.count == 5 })
            }
            #expect(receiver.letters.numbers == Array(8...12))
        }
    }

    @Test("A damaged database is put aside, and the endpoints are told further by another one")
    func damaged() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let dispatcher = try stand.dispatcher()
            _ = try await stand.endpoint(dispatcher, at: receiver, port: port)
            await dispatcher.close()
            for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: stand.path + suffix) {
                try FileManager.default.removeItem(atPath: stand.path + suffix)
            }
            try Data(repeating: 0xA5, count: 9000).write(to: URL(fileURLWithPath: stand.path))
            try await stand.delivering(dispatcher) { () async throws in
                dispatcher.post(1...2)
                #expect(try await eventually { receiver.letters.count == 2 })
            }
            #expect(receiver.letters.numbers == [1, 2] && receiver.letters.allSatisfy { $0.signers == [0] })
            #expect(dispatcher.status.asides == 1)
            let names = try FileManager.default.contentsOfDirectory(atPath: stand.folder.path)
            #expect(names.contains { $0.hasPrefix("webhooks.sqlite.aside-") })
            #expect(try stand.dispatcher().endpoints().count == 1)
        }
    }

    @Test("Endpoints are made, changed, turned off and taken away, and a restart finds them as they are")
    func endpoints() async throws {
        try await Stand.run { (stand) async throws in
            let dispatcher = try stand.dispatcher(stand.configuration { $0.maximumEndpoints = 2 })
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
            #expect(changed.address.host == "b.example" && changed.filter == EventFilter(types: ["room.*"]))
            #expect(changed.disabled == .byOperator && changed.text == "billing" && changed.secret == second.secret)
            dispatcher.post(1...1)
            #expect(try await eventually { dispatcher.status.pending == 1 })

            let later = try stand.dispatcher()
            #expect(later.endpoints() == dispatcher.endpoints())
            #expect(later.pending(of: first.id) == 1 && later.pending(of: second.id) == 0)
            try await dispatcher.remove(first.id)
            await #expect(throws: WebhookFault.notFound) { try await dispatcher.remove(first.id) }
            #expect(dispatcher.endpoints().map(\.id) == [second.id])
            #expect(try stand.dispatcher().endpoints().map(\.id) == [second.id])
        }
    }

    @Test("A mark is stored with its event, and also when nobody wants to know of it")
    func marks() async throws {
        try await Stand.run { (stand) async throws in
            let dispatcher = try stand.dispatcher()
            #expect(try await dispatcher.mark("place") == nil)
            for value in [7, 9] as [Int64] {
                dispatcher.post(WebhookEvent("broadcast.summary", at: 0, mark: ("place", value)) { Data() })
                #expect(try await eventually { try await dispatcher.mark("place") == value })
            }
            #expect(try await stand.dispatcher().mark("place") == 9)
        }
    }

    @Test("Counts of a damaged database are brought to where one more can be counted")
    func damagedCounts() async throws {
        try await Stand.run { (stand) async throws in
            let receiver = Receiver(group: stand.group)
            let port = try await receiver.open()
            let first = try stand.dispatcher()
            let endpoint = try await stand.endpoint(first, at: receiver, port: port)
            first.post(1...1)
            #expect(try await eventually { first.pending(of: endpoint.id) == 1 })
            await first.close()
            let database = try OutboxDatabase(path: stand.path, lockTimeout: 1)
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
            let later = try stand.dispatcher()
            later.post(2...2)
            try await stand.delivering(later) { () async throws in
                #expect(try await eventually { receiver.letters.count == 2 })
            }
        }
    }
}
