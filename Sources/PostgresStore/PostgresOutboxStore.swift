public import FootlightModel
import Foundation
import Persistence
import Synchronization
public import Webhooks

/// Webhook endpoints and their pending deliveries in PostgreSQL, for all nodes of a cluster.
///
/// Every node appends its messages, and each endpoint receives those of all nodes in the order of their numbers, from one
/// node at a time: the one that asked for the endpoint's oldest delivery holds a lease of the endpoint until it asks and
/// there is none, or the lease ends. A message is sent again if its sender was too slow.
public final class PostgresOutboxStore: WebhookStore {
    /// The maximum number of messages, and of their bytes, in one transaction.
    private static let batchLimit = (messages: 256, bytes: 4 << 20)
    /// The number of attempts stored per delivery.
    private static let attemptLimit = 20
    /// The limit of valid counters, as in SQLite: they can be incremented.
    private static let countLimit: Int64 = 1 << 50

    private let link: PostgresLink
    private let node: String
    private let leaseDuration: Double
    private let seal: DataSeal
    private let fence: @Sendable (_ room: String) -> UInt64?
    private let failures = Atomic(0)

    /// Creates a store; `PostgresSchema.prepare` creates its tables.
    ///
    /// - Parameters:
    ///   - link: A link other than that of the heartbeats, which must not wait for other statements.
    ///   - node: The name of this node.
    ///   - leaseDuration: Seconds after which another node may send to an endpoint; longer than an attempt to deliver.
    ///   - secret: The secret of all nodes, by which the secrets of endpoints are sealed.
    ///   - fence: Returns the fence by which this node owns a room, or owned it last; nil until its claim is granted.
    ///     Called by the thread that calls the store.
    public init(
        link: PostgresLink,
        node: String,
        leaseDuration: Double = 60,
        secret: [UInt8],
        fence: @escaping @Sendable (_ room: String) -> UInt64?
    ) {
        self.link = link
        self.node = node
        self.leaseDuration = leaseDuration
        seal = DataSeal(secret: secret, purpose: "footlight webhooks")
        self.fence = fence
    }

    /// The number of failed operations; no database is replaced.
    public var faultCounts: (failures: Int, quarantined: Int) { (failures.load(ordering: .relaxed), 0) }

    /// Does nothing: the database is not replaced by an empty one.
    public func setKnownEndpoints(_ source: @escaping @Sendable () -> [WebhookEndpoint]) {}

    /// Checks whether the server, and its synchronous standby, would acknowledge a write.
    public func probe() throws {
        _ = try read("SELECT number FROM footlight.version FOR SHARE")
    }

    /// Does nothing: several stores use the link.
    public func close() {}

    private func read(_ sql: String, _ arguments: [String?] = []) throws(StoreFault) -> [[String?]] {
        try transaction { (transaction) throws(PostgresFault) in try transaction.run(sql, arguments) }
    }

    /// Executes a transaction, and counts its failure.
    private func transaction<Outcome: Sendable>(
        _ body: @escaping @Sendable (PostgresTransaction) throws(PostgresFault) -> Outcome
    ) throws(StoreFault) -> Outcome {
        do throws(PostgresFault) {
            return try link.transactionAndWait(body)
        } catch {
            failures.add(1, ordering: .relaxed)
            throw StoreFault(error)
        }
    }
}

// MARK: Endpoints

extension PostgresOutboxStore {
    /// Returns all endpoints with the number of their pending deliveries, in order of creation.
    public func endpoints() throws -> [(endpoint: WebhookEndpoint, pending: Int)] {
        let rows = try read(
            """
            SELECT id, url, text, room, show, types, encode(secret, 'base64'), encode(former_secret, 'base64'),
                former_until, disabled, created_at, updated_at, failures, failing_since, failed_at, next_try,
                is_asked::text, dropped, (
                    SELECT count(*) FROM footlight.webhook_delivery WHERE endpoint = e.id AND state = 'pending'
                )
            FROM footlight.webhook_endpoint e ORDER BY created_at, id
            """
        )
        return try rows.compactMap { row in
            var columns = PostgresColumns(row)
            guard let endpoint = try endpoint(&columns) else { return nil }
            return (endpoint, try columns.value())
        }
    }

    /// Decodes an endpoint; nil if its address or secret is invalid.
    private func endpoint(_ columns: inout PostgresColumns) throws -> WebhookEndpoint? {
        let id: String = try columns.value()
        let url: String = try columns.value()
        let text: String = try columns.value()
        let filter: (room: String?, show: String?) = (try columns.optional(), try columns.optional())
        let types: String = try columns.value()
        let secrets: (String, String?) = (try columns.value(), try columns.optional())
        let formerUntil: Double? = try columns.optional()
        let disabled: String? = try columns.optional()
        let dates: (created: Double, updated: Double) = (try columns.value(), try columns.value())
        var health = EndpointHealth()
        health.failures = try count(&columns)
        health.failingSince = try columns.optional()
        health.failedAt = try columns.optional()
        health.nextTry = try columns.optional()
        health.hasRetryAfter = try columns.value()
        health.dropped = try count(&columns)
        // Whether plain HTTP is allowed is checked when a message is sent.
        guard let address = try? EndpointAddress(url, allowsPlainHTTP: true), let secret = opened(secrets.0) else {
            return nil
        }
        let former = secrets.1.flatMap { opened($0) }
        return WebhookEndpoint(
            id: id,
            address: address,
            text: text,
            filter: EventFilter(
                types: types.split(separator: " ").map { .init(rawValue: String($0)) },
                room: filter.room,
                show: filter.show
            ),
            secret: secret,
            former: former.flatMap { secret in formerUntil.map { .init(secret: secret, until: $0) } },
            disabled: disabled.flatMap { WebhookDisabledReason(rawValue: $0) },
            createdAt: dates.created,
            updatedAt: dates.updated,
            health: health
        )
    }

    /// Decodes a counter, clamped so that it is not negative and can be incremented.
    private func count(_ columns: inout PostgresColumns) throws(StoreFault) -> Int {
        let count: Int64 = try columns.value()
        return Int(min(max(count, 0), Self.countLimit))
    }

    private func opened(_ sealed: String) -> WebhookSecret? {
        guard let sealed = PostgresStatement.bytes(sealed), let data = try? seal.open(sealed) else { return nil }
        return WebhookSecret(String(decoding: data, as: UTF8.self))
    }

    private func sealed(_ secret: WebhookSecret) throws -> String {
        try seal.seal(Data(secret.text.utf8)).base64EncodedString()
    }

    /// Inserts or updates endpoints.
    public func save(_ endpoints: [WebhookEndpoint]) throws {
        let statements = try endpoints.map { try saving($0) }
        try transaction { (transaction) throws(PostgresFault) in
            for statement in statements { try transaction.run(statement.sql, statement.arguments) }
        }
    }

    /// Stores a disabled endpoint, and fails its pending deliveries.
    public func disable(_ endpoint: WebhookEndpoint, at now: Double) throws {
        let statement = try saving(endpoint)
        try transaction { (transaction) throws(PostgresFault) in
            try transaction.run(statement.sql, statement.arguments)
            try Self.giveUp(endpoint.id, at: now, in: transaction)
        }
    }

    /// Deletes an endpoint and its deliveries.
    public func remove(_ id: String) throws {
        _ = try read("DELETE FROM footlight.webhook_endpoint WHERE id = $1", [id])
    }

    private func saving(_ endpoint: WebhookEndpoint) throws -> PostgresStatement {
        let health = endpoint.health
        let former = try endpoint.former.map { try sealed($0.secret) }
        return PostgresStatement(
            """
            INSERT INTO footlight.webhook_endpoint (id, url, text, room, show, types, secret, former_secret,
                former_until, disabled, created_at, updated_at, failures, failing_since, failed_at, next_try, is_asked,
                dropped)
            VALUES ($1, $2, $3, $4, $5, $6, decode($7, 'base64'), decode($8, 'base64'), $9::float8, $10, $11::float8,
                $12::float8, $13::bigint, $14::float8, $15::float8, $16::float8, $17::boolean, $18::bigint)
            ON CONFLICT (id) DO UPDATE SET url = excluded.url, text = excluded.text, room = excluded.room,
                show = excluded.show, types = excluded.types, secret = excluded.secret,
                former_secret = excluded.former_secret, former_until = excluded.former_until,
                disabled = excluded.disabled, updated_at = excluded.updated_at, failures = excluded.failures,
                failing_since = excluded.failing_since, failed_at = excluded.failed_at, next_try = excluded.next_try,
                is_asked = excluded.is_asked, dropped = excluded.dropped
            """,
            [
                endpoint.id, endpoint.address.text, endpoint.text, endpoint.filter.room, endpoint.filter.show,
                endpoint.filter.types.map(\.rawValue).joined(separator: " "), try sealed(endpoint.secret), former,
                endpoint.former.map { "\($0.until)" }, endpoint.disabled?.rawValue, "\(endpoint.createdAt)",
                "\(endpoint.updatedAt)", "\(health.failures)", health.failingSince.map { "\($0)" },
                health.failedAt.map { "\($0)" }, health.nextTry.map { "\($0)" }, "\(health.hasRetryAfter)",
                "\(health.dropped)",
            ]
        )
    }

    private static func giveUp(
        _ endpoint: String,
        at now: Double,
        in transaction: PostgresTransaction
    ) throws(PostgresFault) {
        try transaction.run(
            """
            UPDATE footlight.webhook_delivery SET state = 'failed', settled_at = $2::float8
            WHERE endpoint = $1 AND state = 'pending'
            """,
            [endpoint, "\(now)"]
        )
    }
}

// MARK: Messages

extension PostgresOutboxStore {
    /// Appends messages in order, with a delivery for each existing recipient, and stores their marks.
    ///
    /// Leaves out messages of rooms that another node owns by now.
    ///
    /// - Parameter now: Seconds since 1970.
    /// - Throws: `StoreFault`, also while the claim of a message's room is under way.
    public func append(_ messages: [OutboxMessage], now: Double) throws {
        var batch: [OutboxMessage] = []
        var bytes = 0
        for message in messages {
            batch.append(message)
            bytes += message.data.count
            guard batch.count >= Self.batchLimit.messages || bytes >= Self.batchLimit.bytes else { continue }
            try append(batch: batch, now: now)
            (batch, bytes) = ([], 0)
        }
        if !batch.isEmpty { try append(batch: batch, now: now) }
    }

    private func append(batch: [OutboxMessage], now: Double) throws(StoreFault) {
        let fences = Set(batch.compactMap(\.roomSID)).sorted().map { ($0, fence($0)) }
        let isAppended = try transaction { (transaction) throws(PostgresFault) in
            var sequence = try Self.nextSequence(for: batch.count, now: now, in: transaction)
            guard let refused = try Self.refusedRooms(of: fences, in: transaction) else { return false }
            let messages = batch.filter { message in message.roomSID.map { !refused.contains($0) } ?? true }
            let numbered = messages.filter { !$0.recipients.isEmpty }.map { message in
                sequence += 1
                return (message, sequence)
            }
            try Self.insert(numbered, in: transaction)
            let marks = Dictionary(messages.compactMap(\.mark).map { ($0.name, $0.value) }) { $1 }
            for (name, value) in marks.sorted(by: { $0.key < $1.key }) {
                try transaction.run(
                    """
                    INSERT INTO footlight.webhook_mark (name, value) VALUES ($1, $2::bigint)
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value
                    """,
                    [name, "\(value)"]
                )
            }
            return true
        }
        guard isAppended else { throw .unavailable("a room's claim is under way, or its row is locked") }
    }

    /// Reserves numbers, and returns the one before the first; no other node appends before the end of the transaction.
    private static func nextSequence(
        for count: Int,
        now: Double,
        in transaction: PostgresTransaction
    ) throws(PostgresFault) -> Int64 {
        let rows = try transaction.run(
            """
            UPDATE footlight.webhook_sequence
            SET number = greatest(least(number, \(countLimit)), $1::bigint) + $2::bigint RETURNING number - $2::bigint
            """,
            ["\(Int64(now * 1000))", "\(count)"]
        )
        guard let number = rows.first?.first.flatMap({ $0.flatMap { Int64($0) } }) else {
            throw .unavailable("the sequence of webhook messages is missing")
        }
        return number
    }

    /// Returns the rooms that another node owns by now; nil if that is not known of a room.
    ///
    /// The rows of the other rooms stay locked until the end of the transaction.
    /// A room that was released and that no node has claimed since, or whose row is deleted, has no later owner.
    private static func refusedRooms(
        of fences: [(room: String, fence: UInt64?)],
        in transaction: PostgresTransaction
    ) throws(PostgresFault) -> Set<String>? {
        guard !fences.isEmpty else { return [] }
        let rows = try transaction.run(
            """
            WITH source AS (
                SELECT * FROM unnest($1::text[], $2::bigint[]) AS s (sid, fence)
            ), owned AS (
                SELECT r.sid FROM footlight.room r JOIN source s ON r.sid = s.sid
                WHERE r.fence = s.fence OR (r.owner IS NULL AND r.fence = s.fence + 1)
                FOR SHARE OF r SKIP LOCKED
            )
            SELECT s.sid, CASE
                WHEN o.sid IS NOT NULL OR r.sid IS NULL THEN 'owned'
                WHEN r.fence > s.fence AND NOT (r.owner IS NULL AND r.fence = s.fence + 1) THEN 'refused'
                ELSE 'unknown' END
            FROM source s LEFT JOIN owned o ON o.sid = s.sid LEFT JOIN footlight.room r ON r.sid = s.sid
            """,
            [
                PostgresStatement.array(fences.map(\.room)),
                PostgresStatement.array(fences.map { room in room.fence.map { "\($0)" } }),
            ]
        )
        guard !rows.contains(where: { $0.last == "unknown" }) else { return nil }
        return Set(rows.filter { $0.last == "refused" }.compactMap { $0.first.flatMap(\.self) })
    }

    private static func insert(
        _ messages: [(message: OutboxMessage, sequence: Int64)],
        in transaction: PostgresTransaction
    ) throws(PostgresFault) {
        guard !messages.isEmpty else { return }
        let inserted = try transaction.run(
            """
            INSERT INTO footlight.webhook_message (seq, id, type, room, at, body)
            SELECT seq, id, type, room, at, decode(body, 'base64')
            FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[])
                AS m (seq, id, type, room, at, body)
            ON CONFLICT (id) DO NOTHING RETURNING seq
            """,
            [
                PostgresStatement.array(messages.map { "\($0.sequence)" }),
                PostgresStatement.array(messages.map(\.message.id)),
                PostgresStatement.array(messages.map(\.message.type.rawValue)),
                PostgresStatement.array(messages.map(\.message.room)),
                PostgresStatement.array(messages.map { "\($0.message.at)" }),
                PostgresStatement.array(messages.map { $0.message.body(sequence: $0.sequence).base64EncodedString() }),
            ]
        )
        let sequences = Set(inserted.compactMap { $0.first.flatMap { $0.flatMap { Int64($0) } } })
        let deliveries = messages.filter { sequences.contains($0.sequence) }
            .flatMap { message, sequence in message.recipients.map { ($0, sequence) } }
        try transaction.run(
            """
            INSERT INTO footlight.webhook_delivery (endpoint, seq, state, tries)
            SELECT e.id, d.seq, 'pending', 0 FROM unnest($1::text[], $2::bigint[]) AS d (endpoint, seq)
            JOIN footlight.webhook_endpoint e ON e.id = d.endpoint
            """,
            [PostgresStatement.array(deliveries.map(\.0)), PostgresStatement.array(deliveries.map { "\($0.1)" })]
        )
    }

    /// Returns the value of a mark; nil if none was stored.
    public func mark(_ name: String) throws -> Int64? {
        let rows = try read("SELECT value FROM footlight.webhook_mark WHERE name = $1", [name])
        return rows.first?.first.flatMap { $0.flatMap { Int64($0) } }
    }
}

// MARK: Deliveries

extension PostgresOutboxStore {
    /// Returns the oldest pending delivery of an endpoint, which this node may send then; nil if there is none.
    ///
    /// - Throws: `StoreFault`, also while another node sends to the endpoint.
    public func head(of endpoint: String) throws -> PendingDelivery? {
        let (node, leaseDuration) = (node, leaseDuration)
        let (isOwn, row) = try transaction { (transaction) throws(PostgresFault) in
            let leased = try transaction.run(
                """
                UPDATE footlight.webhook_endpoint
                SET sender = $2, sender_until = clock_timestamp() + $3::float8 * interval '1 second'
                WHERE id = $1 AND (sender IS NULL OR sender = $2 OR sender_until < clock_timestamp()) RETURNING id
                """,
                [endpoint, node, "\(leaseDuration)"]
            )
            guard !leased.isEmpty else {
                let known = try transaction.run("SELECT FROM footlight.webhook_endpoint WHERE id = $1", [endpoint])
                return (known.isEmpty, [String?]?.none)
            }
            let head = try transaction.run(
                """
                SELECT seq, id, encode(body, 'base64'), tries
                FROM footlight.webhook_delivery JOIN footlight.webhook_message USING (seq)
                WHERE endpoint = $1 AND state = 'pending' ORDER BY seq LIMIT 1
                """,
                [endpoint]
            ).first
            if head == nil {
                try transaction.run(
                    "UPDATE footlight.webhook_endpoint SET sender = NULL, sender_until = NULL WHERE id = $1",
                    [endpoint]
                )
            }
            return (true, head)
        }
        guard isOwn else { throw StoreFault.unavailable("another gateway sends to the endpoint") }
        guard let row else { return nil }
        var columns = PostgresColumns(row)
        let sequence: Int64 = try columns.value()
        let id: String = try columns.value()
        let body: String = try columns.value()
        guard let bytes = PostgresStatement.bytes(body) else { throw PostgresColumns.malformed }
        return PendingDelivery(sequence: sequence, messageID: id, body: [UInt8](bytes), tries: try count(&columns))
    }

    /// Stores the result of an attempt and the endpoint's health; a disabled endpoint loses its pending deliveries.
    ///
    /// Does nothing if another node has settled the delivery.
    public func settle(
        _ sequence: Int64,
        of endpoint: WebhookEndpoint,
        as state: WebhookDeliveryState,
        after attempt: DeliveryAttempt
    ) throws {
        try transaction { (transaction) throws(PostgresFault) in
            let end = attempt.at + attempt.duration
            // In the order in which a removal locks rows.
            try transaction.run("SELECT FROM footlight.webhook_endpoint WHERE id = $1 FOR UPDATE", [endpoint.id])
            let settled = try transaction.run(
                """
                UPDATE footlight.webhook_delivery SET state = $3, tries = $4::bigint, settled_at = $5::float8
                WHERE endpoint = $1 AND seq = $2::bigint AND state = 'pending' RETURNING seq
                """,
                [
                    endpoint.id, "\(sequence)", state.rawValue, "\(attempt.number)",
                    state == .pending ? nil : "\(end)",
                ]
            )
            // The endpoint may have been deleted while the message was being sent.
            guard !settled.isEmpty else { return }
            try Self.insert(attempt, sequence, of: endpoint.id, in: transaction)
            // Only the health, because an operator may have changed other columns meanwhile.
            let health = endpoint.health
            try transaction.run(
                """
                UPDATE footlight.webhook_endpoint SET failures = $2::bigint, failing_since = $3::float8,
                    failed_at = $4::float8, next_try = $5::float8, is_asked = $6::boolean, dropped = $7::bigint
                WHERE id = $1
                """,
                [
                    endpoint.id, "\(health.failures)", health.failingSince.map { "\($0)" },
                    health.failedAt.map { "\($0)" }, health.nextTry.map { "\($0)" }, "\(health.hasRetryAfter)",
                    "\(health.dropped)",
                ]
            )
            guard let reason = endpoint.disabled else { return }
            try transaction.run(
                "UPDATE footlight.webhook_endpoint SET disabled = $2, updated_at = $3::float8 WHERE id = $1",
                [endpoint.id, reason.rawValue, "\(endpoint.updatedAt)"]
            )
            try Self.giveUp(endpoint.id, at: end, in: transaction)
        }
    }

    private static func insert(
        _ attempt: DeliveryAttempt,
        _ sequence: Int64,
        of endpoint: String,
        in transaction: PostgresTransaction
    ) throws(PostgresFault) {
        let outcome = attempt.outcome
        try transaction.run(
            """
            INSERT INTO footlight.webhook_attempt (endpoint, seq, number, at, duration, outcome, status, retry_after)
            VALUES ($1, $2::bigint, $3::bigint, $4::float8, $5::float8, $6, $7::bigint, $8::float8)
            ON CONFLICT (endpoint, seq, number) DO UPDATE SET at = excluded.at, duration = excluded.duration,
                outcome = excluded.outcome, status = excluded.status, retry_after = excluded.retry_after
            """,
            [
                endpoint, "\(sequence)", "\(attempt.number)", "\(attempt.at)", "\(attempt.duration)",
                outcome.kind.rawValue, outcome.status.map { "\($0)" }, outcome.retryAfter.map { "\($0)" },
            ]
        )
        try transaction.run(
            "DELETE FROM footlight.webhook_attempt WHERE endpoint = $1 AND seq = $2::bigint AND number <= $3::bigint",
            [endpoint, "\(sequence)", "\(attempt.number - attemptLimit)"]
        )
    }

    /// Fails the oldest pending deliveries of an endpoint beyond a limit.
    ///
    /// - Returns: The number of failed deliveries.
    public func drop(beyond limit: Int, of endpoint: String, at now: Double) throws -> Int {
        try read(
            """
            UPDATE footlight.webhook_delivery SET state = 'failed', settled_at = $3::float8
            WHERE endpoint = $1 AND state = 'pending' AND seq <= (
                SELECT seq FROM footlight.webhook_delivery WHERE endpoint = $1 AND state = 'pending'
                ORDER BY seq DESC LIMIT 1 OFFSET $2::bigint
            ) RETURNING seq
            """,
            [endpoint, "\(limit)", "\(now)"]
        ).count
    }

    /// Deletes deliveries that were settled before a time, and messages without deliveries.
    public func deleteSettled(settledBefore: Double) throws {
        try transaction { (transaction) throws(PostgresFault) in
            // Other nodes do so, too, in another order: each leaves what is locked to the other.
            try transaction.run(
                """
                DELETE FROM footlight.webhook_delivery WHERE (endpoint, seq) IN (
                    SELECT endpoint, seq FROM footlight.webhook_delivery WHERE settled_at < $1::float8
                    FOR UPDATE SKIP LOCKED
                )
                """,
                ["\(settledBefore)"]
            )
            try transaction.run(
                """
                DELETE FROM footlight.webhook_message WHERE seq IN (
                    SELECT seq FROM footlight.webhook_message m
                    WHERE NOT EXISTS (SELECT FROM footlight.webhook_delivery d WHERE d.seq = m.seq)
                    FOR UPDATE SKIP LOCKED
                )
                """
            )
        }
    }

    /// Returns the deliveries of an endpoint, latest first.
    ///
    /// - Parameter before: Returns deliveries with a lower sequence number; nil to start with the latest.
    public func deliveries(of endpoint: String, before: Int64?, limit: Int) throws -> [DeliveryRecord] {
        let (rows, attempts) = try transaction { (transaction) throws(PostgresFault) in
            let rows = try transaction.run(
                """
                SELECT seq, id, type, room, at, state, tries
                FROM footlight.webhook_delivery JOIN footlight.webhook_message USING (seq)
                WHERE endpoint = $1 AND seq < $2::bigint ORDER BY seq DESC LIMIT $3::bigint
                """,
                [endpoint, "\(before ?? .max)", "\(limit)"]
            )
            let attempts = try transaction.run(
                """
                SELECT seq, number, at, duration, outcome, status, retry_after FROM footlight.webhook_attempt
                WHERE endpoint = $1 AND seq = ANY ($2::bigint[]) ORDER BY number
                """,
                [endpoint, PostgresStatement.array(rows.map { $0.first.flatMap(\.self) })]
            )
            return (rows, attempts)
        }
        var attemptsBySequence: [Int64: [DeliveryAttempt]] = [:]
        for row in attempts {
            var columns = PostgresColumns(row)
            let sequence: Int64 = try columns.value()
            attemptsBySequence[sequence, default: []].append(try attempt(&columns))
        }
        return try rows.map { row in
            var columns = PostgresColumns(row)
            let sequence: Int64 = try columns.value()
            return DeliveryRecord(
                sequence: sequence,
                messageID: try columns.value(),
                type: WireEnum(rawValue: try columns.value()),
                room: try columns.value(),
                at: try columns.value(),
                state: WebhookDeliveryState(rawValue: try columns.value()) ?? .failed,
                tries: try count(&columns),
                attempts: attemptsBySequence[sequence] ?? []
            )
        }
    }

    private func attempt(_ columns: inout PostgresColumns) throws(StoreFault) -> DeliveryAttempt {
        let number = try count(&columns)
        let at: Double = try columns.value()
        let duration: Double = try columns.value()
        var outcome = DeliveryOutcome(WebhookAttemptOutcome(rawValue: try columns.value()) ?? .unreachable)
        outcome.status = try columns.optional()
        outcome.retryAfter = try columns.optional()
        return DeliveryAttempt(number: number, at: at, duration: duration, outcome: outcome)
    }
}
