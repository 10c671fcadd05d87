public import Persistence
import Synchronization

/// The rooms in PostgreSQL, each in the row that says which node owns it.
///
/// A write changes a room only while the row has the fence by which this node owns the room; the same statement checks
/// it. A room must therefore be claimed before it can be written. It is deleted only after this node wrote it, so that a
/// room that was taken over, and whose record is not loaded yet, is not lost as one that is forgotten.
public final class PostgresRoomStorage: RoomStorage, PostgresStorage {
    /// The change of one room.
    struct Change: Sendable {
        var sid: String
        var fence: UInt64
        /// The room; nil to delete it.
        var room: StoredRoom?
    }

    /// The maximum number of rooms in one statement.
    private static let batchLimit = 256

    /// The link that executes the statements.
    public let link: PostgresLink
    private let fence: @Sendable (_ room: String) -> UInt64?
    /// The number of the latest write.
    private let lastNumber = Atomic<UInt64>(0)

    /// Creates a storage; `PostgresSchema.prepare` creates its tables.
    ///
    /// - Parameters:
    ///   - link: A link other than that of the heartbeats, which must not wait for other statements.
    ///   - fence: Returns the fence by which this node owns a room, as far as it knows; nil if it does not. Called by the
    ///     thread that calls the storage.
    public init(link: PostgresLink, fence: @escaping @Sendable (_ room: String) -> UInt64?) {
        self.link = link
        self.fence = fence
    }

    /// Writes and deletes rooms; those that this node does not own are delayed, and not deleted.
    public func write(_ changes: (_ isFullWrite: Bool) -> RoomChanges) throws(StoreFault) -> RoomWriteResult {
        let changes = changes(false)
        var result = RoomWriteResult()
        var owned: [Change] = []
        for room in changes.rooms {
            guard let fence = fence(room.sid) else {
                result.delayed[room.sid] = "this gateway does not own the room yet"
                continue
            }
            owned.append(Change(sid: room.sid, fence: fence, room: room))
        }
        // A room that this node neither knows nor owns is the business of its owner.
        owned += changes.removed.compactMap { sid in fence(sid).map { Change(sid: sid, fence: $0) } }
        // Rooms that end or go give up their names before others get them, should they be written one by one.
        let isInProgress = { (change: Change) in change.room.map { $0.endedAt == nil } ?? false }
        owned = owned.filter { !isInProgress($0) } + owned.filter(isInProgress)
        for start in stride(from: 0, to: owned.count, by: Self.batchLimit) {
            try write(owned[start..<min(start + Self.batchLimit, owned.count)], &result)
        }
        if changes.rooms.contains(where: { $0.endedAt != nil }) { try deleteExpired(changes) }
        return result
    }

    /// Loads all rooms of all nodes, ordered by the date of their last change; possibly outdated.
    public func load() throws(StoreFault) -> [StoredRoom] {
        let statement = PostgresStatement(
            """
            SELECT sid, name, status, updated_at, ended_at, record FROM footlight.room WHERE record IS NOT NULL
            ORDER BY updated_at, sid
            """
        )
        return try link.rows(statement).map { row throws(StoreFault) in try Self.room(row) }
    }

    /// Loads a room that this node owns; nil if it was never written.
    ///
    /// A server that has the row with this node's fence has all writes of earlier owners.
    public func load(_ sid: String) throws(StoreFault) -> StoredRoom? {
        guard let fence = fence(sid) else { throw .unavailable("this gateway does not own the room") }
        let statement = PostgresStatement(
            """
            SELECT sid, name, status, updated_at, ended_at, record FROM footlight.room
            WHERE sid = $1 AND fence = $2::bigint
            """,
            [sid, "\(fence)"]
        )
        guard let row = try link.rows(statement).first else {
            throw .unavailable("the server does not know that this gateway owns the room")
        }
        return row.last.flatMap(\.self) == nil ? nil : try Self.room(row)
    }

    // MARK: Statements

    private func write(_ changes: ArraySlice<Change>, _ result: inout RoomWriteResult) throws(StoreFault) {
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let rows: [[String?]]
        do throws(PostgresFault) {
            rows = try link.executeAndWait(Self.statement(for: changes, number: number))
        } catch .refused(let code, let reason) where Self.concernsContent(code) {
            // One room that cannot be written must not block the others.
            guard changes.count > 1 else {
                for change in changes { result.delayed[change.sid] = "\(reason) (\(code))" }
                return
            }
            let middle = changes.startIndex + changes.count / 2
            for part in [changes[..<middle], changes[middle...]] { try write(part, &result) }
            return
        } catch {
            throw StoreFault(error)
        }
        let removed = Set(changes.filter { $0.room == nil }.map(\.sid))
        for row in rows where row.count == 5 {
            guard let sid = row[0], let fence = row[1].flatMap({ UInt64($0) }), row[2] != "t" else { continue }
            // What is not changed is only what this server has, which may be outdated: a lower fence decides nothing.
            let stored = row[3].flatMap { UInt64($0) }
            if let stored, stored > fence {
                result.refused.insert(sid)
            } else if stored == fence {
                let isWritten = row[4].flatMap { UInt64($0) } == fence
                if isWritten || !removed.contains(sid) { result.delayed[sid] = "the row of the room is locked" }
            } else if stored != nil || !removed.contains(sid) {
                result.delayed[sid] = "the server does not know that this gateway owns the room"
            }
        }
    }

    /// Whether an error is of what was to be written: data exceptions, constraints and program limits.
    private static func concernsContent(_ code: String) -> Bool {
        ["22", "23", "54"].contains { code.hasPrefix($0) }
    }

    /// Returns the statement that writes and deletes rooms.
    ///
    /// Its rows have the sid, the fence of the change, whether it was done, the fence that is stored, and that of the latest
    /// write. It waits for no lock: a node that takes over a room has locked its row, and so has an earlier write whose
    /// answer was lost.
    static func statement(for changes: some Collection<Change>, number: UInt64) -> PostgresStatement {
        func column(_ value: (Change) -> String?) -> String { PostgresStatement.array(changes.map(value)) }
        return PostgresStatement(
            """
            WITH change AS (
                SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::float8[], $6::float8[], $7::text[])
                    AS c (sid, fence, name, status, updated_at, ended_at, record)
            ), owned AS (
                SELECT r.sid FROM footlight.room r JOIN change c ON r.sid = c.sid AND r.fence = c.fence
                WHERE (r.written_fence, r.written_number) < (c.fence, $8::bigint)
                    AND (c.record IS NOT NULL OR r.written_fence = c.fence)
                FOR UPDATE OF r SKIP LOCKED
            ), stored AS (
                UPDATE footlight.room r SET name = c.name, status = c.status, updated_at = c.updated_at,
                    ended_at = c.ended_at, record = c.record, written_fence = c.fence, written_number = $8::bigint
                FROM owned o JOIN change c ON c.sid = o.sid WHERE r.sid = o.sid AND c.record IS NOT NULL
            ), removed AS (
                DELETE FROM footlight.room r USING owned o JOIN change c ON c.sid = o.sid
                WHERE r.sid = o.sid AND c.record IS NULL
            )
            SELECT c.sid, c.fence, o.sid IS NOT NULL, r.fence, r.written_fence FROM change c
            LEFT JOIN owned o ON o.sid = c.sid LEFT JOIN footlight.room r ON r.sid = c.sid
            """,
            [
                column { $0.sid }, column { "\($0.fence)" }, column { $0.room?.name }, column { $0.room?.status },
                column { $0.room.map { "\($0.updatedAt)" } }, column { $0.room?.endedAt.map { "\($0)" } },
                column { $0.room?.record }, "\(number)",
            ]
        )
    }

    /// Deletes ended rooms beyond the limits; those that a node owns are its own business.
    private func deleteExpired(_ changes: RoomChanges) throws(StoreFault) {
        let statement = PostgresStatement(
            """
            DELETE FROM footlight.room WHERE sid IN (
                SELECT sid FROM footlight.room WHERE owner IS NULL AND ended_at IS NOT NULL AND (
                    ended_at < $1::float8 OR sid NOT IN (
                        SELECT sid FROM footlight.room WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, sid LIMIT $2::int
                    )
                ) FOR UPDATE SKIP LOCKED
            )
            """,
            ["\(changes.endedSince)", "\(changes.maximumEnded)"]
        )
        _ = try link.rows(statement)
    }

    private static func room(_ row: [String?]) throws(StoreFault) -> StoredRoom {
        var columns = PostgresColumns(row)
        return StoredRoom(
            sid: try columns.value(),
            name: try columns.value(),
            status: try columns.value(),
            updatedAt: try columns.value(),
            endedAt: try columns.optional(),
            record: try columns.value()
        )
    }
}
