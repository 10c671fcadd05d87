import FootlightModel
import FootlightTesting
import Foundation
import TestSupport
import Testing
import Webhooks

@testable import Persistence
@testable import PostgresStore

private func makeEndpoint(_ id: String, at created: Double = 1) throws -> WebhookEndpoint {
    WebhookEndpoint(
        id: id,
        address: try EndpointAddress("https://a.example/in", allowsPlainHTTP: false),
        text: "billing — “ü”",
        filter: EventFilter(types: ["room.*", "test"], room: "show", show: "weekly"),
        secret: WebhookSecret(),
        createdAt: created,
        updatedAt: 2
    )
}

private func makeMessage(
    _ id: String,
    to recipients: [String] = ["WH1"],
    room: String? = nil,
    mark: Int64? = nil
) -> OutboxMessage {
    OutboxMessage(
        id: id,
        type: .webhook(.broadcastSummary),
        room: "show",
        at: 1_800_000_000.25,
        data: Data(#"{"text":"quotes ' and \"double\", \u0000, ü"}"#.utf8),
        recipients: recipients,
        mark: mark.map { ("place", $0) },
        roomSID: room
    )
}

private func attempt(_ number: Int, _ status: Int = 200) -> DeliveryAttempt {
    DeliveryAttempt(number: number, at: 100 * Double(number), duration: 0.5, outcome: DeliveryOutcome(status: status))
}

/// What holds for every database.
@Suite("Storage of webhooks", .sharedPostgres, .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct OutboxStorageTests {
    @Test("another process loads every property of an endpoint", arguments: DatabaseKind.present)
    func endpoints(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let outbox = fixture.outbox()
        var first = try makeEndpoint("WH1", at: 2)
        first.former = .init(secret: WebhookSecret(), until: 7.5)
        first.disabled = .gone
        first.health.failures = 3
        first.health.failingSince = 1.25
        first.health.failedAt = 2
        first.health.nextTry = 4
        first.health.hasRetryAfter = true
        first.health.dropped = 9
        var second = try makeEndpoint("WH2", at: 1)
        second.filter = EventFilter()
        try outbox.save([first, second])
        try outbox.probe()
        outbox.close()
        #expect(try fixture.outbox().endpoints().map(\.endpoint) == [second, first])
        second.text = "other"
        second.secret = WebhookSecret()
        try outbox.save([second])
        try outbox.remove("WH1")
        #expect(try fixture.outbox().endpoints().map(\.endpoint) == [second])
        #expect(outbox.faultCounts == (0, 0))
    }

    @Test("messages are delivered in order, each until it is settled", arguments: DatabaseKind.present)
    func deliveries(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let outbox = fixture.outbox()
        let endpoint = try makeEndpoint("WH1")
        try outbox.save([endpoint, makeEndpoint("WH2")])
        #expect(try outbox.head(of: "WH1") == nil)
        #expect(try outbox.head(of: "none") == nil)
        let messages = [
            makeMessage("m1", to: ["WH1", "WH2", "none"]), makeMessage("m2", to: []), makeMessage("m3"),
        ]
        try outbox.append(messages, now: 1_800_000_000)
        // A repetition, as after an answer that was lost, and an earlier time.
        try outbox.append(messages + [makeMessage("m4")], now: 1_000_000_000)
        try outbox.append([], now: 1)
        #expect(try outbox.endpoints().map(\.pending) == [3, 1])

        let head = try #require(try outbox.head(of: "WH1"))
        #expect(head.messageID == "m1" && head.tries == 0 && head.sequence > 1_800_000_000_000)
        #expect(head.body == [UInt8](messages[0].body(sequence: head.sequence)))
        try outbox.settle(head.sequence, of: endpoint, as: .pending, after: attempt(1, 503))
        #expect(try outbox.head(of: "WH1")?.tries == 1)
        try outbox.settle(head.sequence, of: endpoint, as: .delivered, after: attempt(2))
        let next = try #require(try fixture.outbox().head(of: "WH1"))
        #expect(next.messageID == "m3" && next.sequence > head.sequence)
        for number in 1...25 {
            try outbox.settle(next.sequence, of: endpoint, as: .pending, after: attempt(number, 500))
        }

        let records = try outbox.deliveries(of: "WH1", before: nil, limit: 2)
        #expect(records.map(\.messageID) == ["m4", "m3"])
        #expect(records.map(\.state) == [.pending, .pending] && records.map(\.tries) == [0, 25])
        #expect(records[1].attempts == (6...25).map { attempt($0, 500) })
        let rest = try outbox.deliveries(of: "WH1", before: next.sequence, limit: 10)
        #expect(rest.map(\.messageID) == ["m1"] && rest[0].attempts == [attempt(1, 503), attempt(2)])
        #expect(rest[0].state == .delivered && rest[0].at == 1_800_000_000.25 && rest[0].room == "show")

        // Deliveries of before the time are deleted with their messages, but for those that others still get.
        try outbox.deleteSettled(settledBefore: 200)
        #expect(try outbox.deliveries(of: "WH1", before: nil, limit: 10).count == 3)
        try outbox.deleteSettled(settledBefore: 201)
        #expect(try outbox.deliveries(of: "WH1", before: nil, limit: 10).map(\.messageID) == ["m4", "m3"])
        #expect(try outbox.head(of: "WH2")?.messageID == "m1")
    }

    @Test(
        "an endpoint that is disabled loses its pending deliveries; those above a limit are dropped",
        arguments: DatabaseKind.present
    )
    func givingUp(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let outbox = fixture.outbox()
        var endpoint = try makeEndpoint("WH1")
        try outbox.save([endpoint])
        try outbox.append((1...10).map { makeMessage("m\($0)") }, now: 1)
        #expect(try outbox.drop(beyond: 7, of: "WH1", at: 5) == 3)
        #expect(try outbox.drop(beyond: 7, of: "WH1", at: 5) == 0)
        let head = try #require(try outbox.head(of: "WH1"))
        #expect(head.messageID == "m4")
        endpoint.disabled = .gone
        endpoint.health.failures = 1
        endpoint.updatedAt = 77
        try outbox.settle(head.sequence, of: endpoint, as: .failed, after: attempt(1, 410))
        #expect(try outbox.head(of: "WH1") == nil)
        #expect(try outbox.endpoints().map(\.endpoint) == [endpoint])
        let records = try outbox.deliveries(of: "WH1", before: nil, limit: 20)
        #expect(records.count == 10 && records.allSatisfy { $0.state == .failed })

        endpoint.disabled = nil
        try outbox.save([endpoint])
        try outbox.append([makeMessage("m11")], now: 1)
        endpoint.disabled = .byOperator
        try outbox.disable(endpoint, at: 9)
        #expect(try outbox.endpoints().map(\.pending) == [0])
        #expect(try outbox.endpoints().map(\.endpoint) == [endpoint])
        try outbox.remove("WH1")
        #expect(try outbox.deliveries(of: "WH1", before: nil, limit: 20).isEmpty)
        // Of an endpoint that is gone nothing is stored.
        try outbox.settle(head.sequence, of: endpoint, as: .failed, after: attempt(2))
        #expect(try outbox.endpoints().isEmpty)
    }

    @Test("stores marks with their messages, also without recipients", arguments: DatabaseKind.present)
    func marks(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let outbox = fixture.outbox()
        #expect(try outbox.mark("place") == nil)
        try outbox.append([makeMessage("m1", to: [], mark: 7), makeMessage("m2", mark: 8)], now: 1)
        #expect(try outbox.mark("place") == 8)
        try outbox.append([makeMessage("m3", to: [], mark: .max)], now: 1)
        #expect(try fixture.outbox().mark("place") == .max)
    }
}

@Suite(
    "Webhooks of several gateways in PostgreSQL",
    .sharedPostgres,
    .enabled(if: TestRun.isFull && PostgresServers.programs != nil),
    .timeLimit(.minutes(1))
)
struct SharedOutboxTests {
    private func isUnavailable(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return false
        } catch StoreFault.unavailable {
            return true
        } catch {
            return false
        }
    }

    @Test("an owner that was fenced appends no messages of its room; those of others and of no room are stored")
    func lateOwner() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        let (outbox, later) = (first.outbox(), second.outbox())
        try outbox.save([makeEndpoint("WH1")])
        try await first.claim(["RM1", "RM2"])
        try outbox.append([makeMessage("m1", room: "RM1")], now: 1)
        try await second.claim(["RM1"], fencing: first)
        let batch = [
            makeMessage("m2", room: "RM1", mark: 3), makeMessage("m3", room: "RM2"), makeMessage("m4"),
        ]
        try outbox.append(batch, now: 1)
        try later.append([makeMessage("m5", room: "RM1")], now: 1)
        let records = try later.deliveries(of: "WH1", before: nil, limit: 10)
        #expect(records.map(\.messageID) == ["m5", "m4", "m3", "m1"])
        #expect(try later.mark("place") == nil)
    }

    @Test("messages of a room are stored before its first claim, after its release and end, but not during a claim")
    func withoutOwner() async throws {
        let database = try await StorageFixture.newDatabase()
        let (node, other) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        let outbox = node.outbox()
        try outbox.save([makeEndpoint("WH1")])
        try outbox.append([makeMessage("m1", room: "RM1")], now: 1)
        try await other.claim(["RM1"])
        // As between the grant and its answer.
        #expect(isUnavailable { try outbox.append([makeMessage("m2", room: "RM1")], now: 1) })
        try await node.claim(["RM2"])
        try await node.release(["RM2"], isForgotten: false)
        try outbox.append([makeMessage("m3", room: "RM2")], now: 1)
        try await other.claim(["RM2"])
        try outbox.append([makeMessage("m4", room: "RM2")], now: 1)
        _ = try await node.link.execute(PostgresStatement("DELETE FROM footlight.room"))
        try outbox.append([makeMessage("m5", room: "RM2")], now: 1)
        let records = try outbox.deliveries(of: "WH1", before: nil, limit: 10)
        #expect(records.map(\.messageID) == ["m5", "m3", "m1"])
    }

    @Test("one gateway at a time sends to an endpoint; another goes on when it has finished, or is too slow")
    func senders() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        let (outbox, other) = (first.outbox(leaseDuration: 0.5), second.outbox(leaseDuration: 0.5))
        let endpoint = try makeEndpoint("WH1")
        try outbox.save([endpoint, makeEndpoint("WH2")])
        try outbox.append([makeMessage("m1", to: ["WH1", "WH2"]), makeMessage("m2")], now: 1)
        let head = try #require(try outbox.head(of: "WH1"))
        #expect(isUnavailable { _ = try other.head(of: "WH1") })
        #expect(try other.head(of: "WH2")?.messageID == "m1")
        try outbox.settle(head.sequence, of: endpoint, as: .delivered, after: attempt(1))
        let next = try #require(try outbox.head(of: "WH1"))
        #expect(next.messageID == "m2")
        // The first gateway is too slow.
        let isNext = try await eventually { (try? other.head(of: "WH1"))?.messageID == "m2" }
        #expect(isNext)
        try other.settle(next.sequence, of: endpoint, as: .delivered, after: attempt(1))
        var late = endpoint
        late.disabled = .gone
        try outbox.settle(next.sequence, of: late, as: .failed, after: attempt(1, 410))
        let records = try outbox.deliveries(of: "WH1", before: nil, limit: 10)
        #expect(records.map(\.state) == [.delivered, .delivered])
        #expect(try outbox.endpoints().first?.endpoint.disabled == nil)
        // Without a pending delivery the lease ends at once.
        #expect(try other.head(of: "WH1") == nil)
        #expect(try outbox.head(of: "WH1") == nil)
    }

    @Test("messages that two gateways append at the same time are numbered in the order in which they become visible")
    func concurrentAppends() async throws {
        let database = try await StorageFixture.newDatabase()
        let nodes = [try await ClaimingNode("a", database), try await ClaimingNode("b", database)]
        let reader = try await ClaimingNode("c", database).outbox()
        let endpoint = try makeEndpoint("WH1")
        try reader.save([endpoint])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for node in nodes {
                let outbox = node.outbox()
                let name = node.name
                group.addTask {
                    for number in 0..<60 {
                        let messages = (0..<(number % 3 + 1)).map { makeMessage("\(name)-\(number)-\($0)") }
                        try outbox.append(messages, now: 1)
                        await Task.yield()
                    }
                }
            }
            var received: [PendingDelivery] = []
            let deadline = ContinuousClock.now + .seconds(30)
            while received.count < 240, ContinuousClock.now < deadline {
                guard let head = try reader.head(of: "WH1") else {
                    try await Task.sleep(for: .milliseconds(1))
                    continue
                }
                try reader.settle(head.sequence, of: endpoint, as: .delivered, after: attempt(1))
                received.append(head)
            }
            try await group.waitForAll()
            #expect(received.count == 240)
            #expect(zip(received, received.dropFirst()).allSatisfy { $0.sequence < $1.sequence })
            for node in nodes {
                let own = received.map(\.messageID).filter { $0.hasPrefix(node.name + "-") }
                let expected = (0..<60).flatMap { number in (0...(number % 3)).map { "\(node.name)-\(number)-\($0)" } }
                #expect(own == expected)
            }
        }
    }

    @Test("secrets of endpoints are not stored in clear")
    func sealedSecrets() async throws {
        let node = try await ClaimingNode("a", StorageFixture.newDatabase())
        let endpoint = try makeEndpoint("WH1")
        try node.outbox().save([endpoint])
        let rows = try await node.link.execute(
            PostgresStatement("SELECT e::text, encode(secret, 'escape') FROM footlight.webhook_endpoint e")
        )
        let stored = rows.flatMap(\.self).compactMap(\.self).joined()
        let key = Data(endpoint.secret.text.utf8)
        #expect(stored.contains("a.example"))
        #expect(!stored.contains(endpoint.secret.text))
        #expect(!stored.contains(key.map { String(format: "%02x", $0) }.joined()))
        let other = PostgresOutboxStore(link: node.link, node: "b", secret: Array(2...33)) { _ in nil }
        #expect(try other.endpoints().isEmpty)
    }
}
