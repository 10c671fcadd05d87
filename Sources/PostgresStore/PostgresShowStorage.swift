public import Foundation
public import Persistence
import Shows
import Synchronization

/// The shows in PostgreSQL, as sealed documents.
///
/// A show has an owner like a room: a node claims it under its id. A write has an effect only while this node's fence is
/// the one that is stored; the same statement checks it.
public final class PostgresShowStorage: ShowStorage, PostgresStorage {
    /// The link that executes the statements.
    public let link: PostgresLink
    private let fence: @Sendable (_ show: String) -> UInt64?
    /// The number of the latest write.
    private let lastNumber = Atomic<UInt64>(0)

    /// Creates a storage; `PostgresSchema.prepare` creates its tables.
    ///
    /// - Parameters:
    ///   - link: A link other than that of the heartbeats, which must not wait for other statements.
    ///   - fence: Returns the fence by which this node owns a show, as far as it knows; nil if it does not. Called by the
    ///     thread that calls the storage.
    public init(link: PostgresLink, fence: @escaping @Sendable (_ show: String) -> UInt64?) {
        self.link = link
        self.fence = fence
    }

    /// Writes a document; deletes it with the record of its owner if it is nil.
    public func save(_ document: Data?, of id: String) throws(StoreFault) {
        guard let fence = fence(id) else { throw .unavailable("this gateway does not own the show") }
        let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let row = try link.rows(Self.statement(for: document, of: id, fence: fence, number: number)).first
        guard row?.first != "t" else { return }
        // What is not changed is only what this server has, which may be outdated: a lower fence decides nothing.
        let stored = row?.last?.flatMap { UInt64($0) }
        if let stored, stored > fence { throw .fenced("another gateway owns the show") }
        // The row of a show is deleted with the show.
        if stored == nil, document == nil { return }
        if stored == fence { throw .unavailable("the row of the show is locked") }
        throw .unavailable("the server does not know that this gateway owns the show")
    }

    /// Loads the documents of all shows of all nodes, ordered by their ids; possibly outdated.
    public func load() throws(StoreFault) -> [(id: String, document: Data)] {
        let statement = PostgresStatement(
            "SELECT id, encode(document, 'base64') FROM footlight.show ORDER BY id LIMIT $1::int",
            ["\(ShowDirectory.mostShows)"]
        )
        return try link.rows(statement).map { row throws(StoreFault) in
            var columns = PostgresColumns(row)
            let id: String = try columns.value()
            guard let document = PostgresStatement.bytes(try columns.value()) else { throw PostgresColumns.malformed }
            return (id, document)
        }
    }

    /// Loads the document of a show that this node owns; nil if it was never written.
    ///
    /// A server that has the row with this node's fence has all writes of earlier owners.
    public func load(_ id: String) throws(StoreFault) -> Data? {
        guard let fence = fence(id) else { throw .unavailable("this gateway does not own the show") }
        let statement = PostgresStatement(
            """
            SELECT encode(s.document, 'base64') FROM footlight.room r LEFT JOIN footlight.show s ON s.id = r.sid
            WHERE r.sid = $1 AND r.fence = $2::bigint
            """,
            [id, "\(fence)"]
        )
        guard let row = try link.rows(statement).first else {
            throw .unavailable("the server does not know that this gateway owns the show")
        }
        guard let text = row.first.flatMap(\.self) else { return nil }
        guard let document = PostgresStatement.bytes(text) else { throw PostgresColumns.malformed }
        return document
    }

    /// Returns the statement that writes or deletes a document.
    ///
    /// Its row has whether it was done, and the fence that is stored. It waits for no lock.
    static func statement(for document: Data?, of id: String, fence: UInt64, number: UInt64) -> PostgresStatement {
        let owned = """
            WITH owned AS (
                SELECT r.sid FROM footlight.room r LEFT JOIN footlight.show s ON s.id = r.sid
                WHERE r.sid = $1 AND r.fence = $2::bigint
                    AND (s.id IS NULL OR (s.written_fence, s.written_number) < ($2::bigint, $3::bigint))
                FOR UPDATE OF r SKIP LOCKED
            )
            """
        let result = """
            SELECT EXISTS (SELECT FROM owned), (SELECT fence FROM footlight.room WHERE sid = $1)
            """
        let arguments = [id, "\(fence)", "\(number)"]
        guard let document else {
            return PostgresStatement(
                """
                \(owned), removed AS (DELETE FROM footlight.show s USING owned o WHERE s.id = o.sid),
                released AS (DELETE FROM footlight.room r USING owned o WHERE r.sid = o.sid)
                \(result)
                """,
                arguments
            )
        }
        return PostgresStatement(
            """
            \(owned), stored AS (
                INSERT INTO footlight.show AS s (id, document, written_fence, written_number)
                SELECT sid, decode($4, 'base64'), $2::bigint, $3::bigint FROM owned
                ON CONFLICT (id) DO UPDATE SET document = excluded.document, written_fence = excluded.written_fence,
                    written_number = excluded.written_number
                WHERE (s.written_fence, s.written_number) < (excluded.written_fence, excluded.written_number)
            )
            \(result)
            """,
            arguments + [document.base64EncodedString()]
        )
    }
}
