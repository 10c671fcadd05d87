import Foundation
import GRDB
import SQLiteStore
import Stage
import Viewership

extension HistoryDatabase {
    /// What an earlier run left open.
    func load() throws(StoreFault) -> RecoveredAudience {
        try store.read { database in
            var recovered = RecoveredAudience()
            recovered.lastSeen = try Row.fetchOne(database, sql: "SELECT last_seen FROM run")?.optionalNumber(
                "last_seen"
            )
            if let counters = try Data.fetchOne(database, sql: "SELECT counters FROM run") {
                // Counters that cannot be read begin anew; nothing else hangs on them.
                recovered.counters = (try? JSONDecoder().decode(RunCounters.self, from: counters)) ?? RunCounters()
            }
            recovered.broadcasts = try Row.fetchAll(database, sql: "SELECT * FROM broadcast WHERE ended IS NULL")
                .map { try BroadcastRow($0) }
            let open = "epoch IN (SELECT epoch FROM broadcast WHERE ended IS NULL)"
            recovered.totals = try Row.fetchAll(
                database,
                sql: """
                    SELECT room, epoch, 0 AS minute, protocol, rendition, region, client, \(Self.sums)
                    FROM minute WHERE \(open) AND protocol <> '' GROUP BY room, epoch, protocol, rendition, region, client
                    """
            ).map { try MinuteRow($0) }
            recovered.sessions = try Row.fetchAll(
                database,
                sql: "\(Self.sessionColumns) WHERE session.closed = 0 AND session.\(open)"
            ).map { try SessionRow($0) }
            for row in try Row.fetchAll(database, sql: "SELECT * FROM last_hit") {
                recovered.lastHits[UInt8(clamping: try row.decode(Int.self, forColumn: "shard"))] = try LastHits(row)
            }
            recovered.viewers = try Row.fetchAll(
                database,
                sql: """
                    SELECT DISTINCT epoch, code, viewer, is_user, estimate FROM session WHERE \(open)
                    UNION SELECT epoch, code, viewer, is_user, estimate FROM seen WHERE \(open)
                    """
            ).map { row in
                RecoveredAudience.Viewer(
                    epoch: try row.number("epoch"),
                    session: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "code")),
                    viewer: try row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) },
                    isUser: try row.decode(forColumn: "is_user"),
                    estimate: try row.decode(Int64?.self, forColumn: "estimate").map { UInt64(bitPattern: $0) }
                )
            }
            recovered.totalPeak = try Row.fetchOne(
                database,
                sql: """
                    SELECT most, minute FROM minute WHERE epoch = 0 AND most > 0
                    AND minute >= (SELECT min(began) / 60000 FROM broadcast WHERE ended IS NULL)
                    ORDER BY most DESC, minute LIMIT 1
                    """
            ).map { row in
                (try row.number("most"), try row.minute() * 60_000)
            }
            return recovered
        }
    }

    func broadcasts(room: String, limit: Int) throws(StoreFault) -> [BroadcastRow] {
        try store.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM broadcast WHERE room = ? ORDER BY epoch DESC LIMIT ?",
                arguments: [room, limit]
            ).map { try BroadcastRow($0) }
        }
    }

    /// Broadcasts that ended behind a moment, in the order of their ends.
    func ended(after moment: Int64, limit: Int) throws(StoreFault) -> [BroadcastRow] {
        try store.read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM broadcast WHERE ended > ? ORDER BY ended, epoch LIMIT ?",
                arguments: [moment, limit]
            ).map { try BroadcastRow($0) }
        }
    }

    func sessions(epoch: Int64, after: (start: Int64, code: UInt64)?, limit: Int) throws(StoreFault) -> [SessionRow] {
        try store.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    \(Self.sessionColumns) WHERE session.epoch = ? AND (session.began, session.code) > (?, ?)
                    ORDER BY session.began, session.code LIMIT ?
                    """,
                arguments: [epoch, after?.start ?? .min, after.map { Int64(bitPattern: $0.code) } ?? .min, limit]
            ).map { try SessionRow($0) }
        }
    }

    /// When sessions were away, from one through another in the order of `sessions`.
    func gaps(
        epoch: Int64,
        from first: SessionRow,
        through last: SessionRow,
        limit: Int
    ) throws(StoreFault) -> [GapRow] {
        try store.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM gap WHERE epoch = ? AND code IN (
                        SELECT code FROM session WHERE epoch = ? AND (began, code) >= (?, ?) AND (began, code) <= (?, ?)
                    ) ORDER BY went, code LIMIT ?
                    """,
                arguments: [
                    epoch, epoch, first.start, Int64(bitPattern: first.code), last.start, Int64(bitPattern: last.code),
                    limit,
                ]
            ).map { try GapRow($0) }
        }
    }

    /// The settled peak that is stored: of a broadcast that ended all of it, of one that lasts that of the sessions that
    /// are kept no longer.
    func storedPeak(epoch: Int64) throws(StoreFault) -> (peak: (viewers: Int, at: Int64), hasEnded: Bool)? {
        try store.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT settled_peak, settled_peak_at, ended IS NOT NULL AS has_ended FROM broadcast
                    WHERE epoch = ? AND settled_peak IS NOT NULL
                    """,
                arguments: [epoch]
            ).map { row -> (peak: (viewers: Int, at: Int64), hasEnded: Bool) in
                (
                    (try row.number("settled_peak"), try row.number("settled_peak_at")),
                    try row.decode(forColumn: "has_ended")
                )
            }
        }
    }

    /// The settled peak that the sessions give.
    func computedPeak(epoch: Int64) throws(StoreFault) -> (viewers: Int, at: Int64)? {
        try store.read { try Self.computedPeak(of: epoch, in: $0) }
    }

    /// A walk over all beginnings and ends; at the same moment those who leave go first.
    ///
    /// - Parameter until: sessions that began before it; nil for all.
    static func computedPeak(
        of epoch: Int64,
        until: Int64? = nil,
        in database: Database
    ) throws -> (viewers: Int, at: Int64)? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT viewers, at FROM (
                    SELECT at, sum(change) OVER (ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS viewers FROM (
                        SELECT began AS at, 1 AS change FROM session WHERE epoch = :epoch
                        UNION ALL SELECT ended, -1 FROM session WHERE epoch = :epoch AND ended IS NOT NULL
                        UNION ALL SELECT went, -1 FROM gap WHERE epoch = :epoch
                        UNION ALL SELECT came, 1 FROM gap WHERE epoch = :epoch
                    ) WHERE at < :until
                ) ORDER BY viewers DESC, at LIMIT 1
                """,
            arguments: ["epoch": epoch, "until": until ?? .max]
        )
        return try row.map { (try $0.number("viewers"), try $0.number("at")) }
    }

    private static let sessionColumns =
        "SELECT session.*, broadcast.room AS room FROM session JOIN broadcast USING (epoch)"
}
