import FootlightModel
import FootlightTesting
import Foundation
import GRDB
import Logging
import TestSupport
import Testing
import Webhooks

@testable import Persistence

@Suite("Outbox store")
struct OutboxStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.file("webhooks.sqlite") }

    init() throws {
        folder = try TemporaryFolder("outbox")
    }

    private func store() -> OutboxStore {
        OutboxStore(path: path, lockTimeout: 0.05, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func endpoint(_ id: String) throws -> WebhookEndpoint {
        var endpoint = WebhookEndpoint(
            id: id,
            address: try EndpointAddress("https://a.example/in", allowsPlainHTTP: false),
            text: "billing",
            filter: EventFilter(types: ["room.*", "test"], room: "show", show: "weekly"),
            secret: WebhookSecret(),
            former: .init(secret: WebhookSecret(), until: 7),
            disabled: .gone,
            createdAt: 1,
            updatedAt: 2
        )
        endpoint.health.failures = 3
        endpoint.health.nextTry = 4
        endpoint.health.hasRetryAfter = true
        return endpoint
    }

    @Test("a second store loads every property of an endpoint")
    func endpoints() throws {
        let endpoint = try endpoint("WH1")
        let first = store()
        try first.save([endpoint])
        first.close()
        #expect(try store().endpoints().map(\.endpoint) == [endpoint])
    }

    @Test("a database of before the webhooks of shows opens unchanged, as webhooks of the gateway")
    func migration() async throws {
        let queue = try DatabaseQueue(path: path)
        try OutboxDatabase.migrations.migrate(queue, upTo: "1 webhooks")
        var former = try endpoint("WH1")
        former.filter.show = nil
        let values = [former.secret.text, former.former?.secret.text]
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO endpoint VALUES ('WH1', 'https://a.example/in', 'billing', 'show', 'room.* test', ?, ?, 7, 'gone',
                    1, 2, 3, NULL, NULL, 4, TRUE, 0);
                    """,
                arguments: StatementArguments(values)
            )
        }
        try queue.close()
        let store = store()
        #expect(try store.endpoints().map(\.endpoint) == [former])
        try store.save([endpoint("WH2")])
        #expect(try store.endpoints().map(\.endpoint.filter.show) == [nil, "weekly"])
    }

    @Test("a database that was deleted is replaced by one with the known endpoints")
    func deleted() throws {
        let known = try endpoint("WH1")
        let store = store()
        store.setKnownEndpoints { [known] }
        try store.save([known])
        try FileManager.default.removeItem(atPath: path)
        try store.append([], now: 1)
        #expect(try store.endpoints().map(\.endpoint) == [known])
        #expect(store.faultCounts.failures == 1 && store.faultCounts.quarantined == 1)
    }
}
