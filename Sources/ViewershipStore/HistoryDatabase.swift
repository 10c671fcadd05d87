import Foundation
import GRDB
import Stage
import Viewership

/// The history in SQLite; the one file that knows of it.
///
/// A write-ahead log that is synced at checkpoints only: a crash of the process loses nothing that was committed, one of
/// the machine at most the last seconds. Readers have connections of their own and hold nobody up.
struct HistoryDatabase: Sendable {
    private let pool: DatabasePool

    /// Opens the database, or makes it, and brings its tables up to date.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        pool = try Self.translated(isOpen: false) {
            var configuration = Configuration()
            configuration.busyMode = .timeout(lockTimeout)
            configuration.label = "viewership"
            configuration.maximumReaderCount = 2
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
            return try DatabasePool(path: path, configuration: configuration)
        }
        let pool = pool
        try Self.translated {
            try Self.check(pool)
            try Self.migrations.migrate(pool)
        }
    }

    func close() {
        // What was saved is in the log already; closing only tidies up.
        try? pool.close()
    }

    // MARK: Writing

    /// Writes a batch in one transaction.
    func save(_ batch: HistoryBatch) throws(StoreFault) {
        try Self.translated {
            try pool.write { database in
                for row in batch.sessions.values { try Self.save(row, in: database) }
                for row in batch.gaps {
                    try database.execute(
                        sql: "INSERT OR IGNORE INTO gap (code, epoch, went, came) VALUES (?, ?, ?, ?)",
                        arguments: [Int64(bitPattern: row.code), row.epoch, row.from, row.to]
                    )
                }
                for row in batch.minutes.values { try Self.save(row, in: database) }
                for row in batch.broadcasts.values { try Self.save(row, in: database) }
                try database.execute(
                    sql: "INSERT INTO run (id, last_seen) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET last_seen = ?",
                    arguments: [batch.asOf, batch.asOf]
                )
            }
        }
    }

    /// Ends what an earlier run left open, at the moment at which that run was last known to live.
    func closeLeftovers() throws(StoreFault) {
        try Self.translated {
            try pool.write { database in
                let lastSeen = try Int64.fetchOne(database, sql: "SELECT last_seen FROM run") ?? 0
                try database.execute(
                    sql: "UPDATE session SET ended = coalesce(ended, ?), closed = 1 WHERE closed = 0",
                    arguments: [lastSeen]
                )
                try database.execute(
                    sql: "UPDATE broadcast SET ended = ? WHERE ended IS NULL",
                    arguments: [lastSeen]
                )
            }
        }
    }

    /// Deletes what is kept no longer, a few thousand rows at a time.
    ///
    /// - Parameters: moments in milliseconds since 1970; nil for what is kept for ever.
    /// - Returns: whether more is left to delete.
    func forget(sessionsBefore: Int64, minutesBefore: Int64?) throws(StoreFault) -> Bool {
        let step = 5000
        return try Self.translated {
            try pool.write { database in
                try database.execute(
                    sql: """
                        DELETE FROM session WHERE (code, began) IN
                        (SELECT code, began FROM session WHERE closed = 1 AND ended < ? LIMIT ?)
                        """,
                    arguments: [sessionsBefore, step]
                )
                var deleted = database.changesCount
                try database.execute(
                    sql: "DELETE FROM gap WHERE rowid IN (SELECT rowid FROM gap WHERE came < ? LIMIT ?)",
                    arguments: [sessionsBefore, step]
                )
                deleted = max(deleted, database.changesCount)
                guard let minutesBefore else { return deleted == step }
                try database.execute(
                    sql: """
                        DELETE FROM minute WHERE epoch IN (SELECT epoch FROM broadcast WHERE ended < ?) AND minute < ?
                        """,
                    arguments: [minutesBefore, minutesBefore / 60_000]
                )
                try database.execute(sql: "DELETE FROM broadcast WHERE ended < ?", arguments: [minutesBefore])
                return deleted == step
            }
        }
    }

    private static func save(_ row: SessionRow, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO session (code, began, shard, epoch, ended, watched, stalled, protocol, rendition, region, client,
                switches, viewer, is_user, reason, closed) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (code, began) DO UPDATE SET ended = excluded.ended, watched = max(watched, excluded.watched),
                stalled = max(stalled, excluded.stalled), protocol = excluded.protocol, rendition = excluded.rendition,
                region = excluded.region, client = excluded.client, switches = excluded.switches,
                viewer = coalesce(excluded.viewer, viewer), is_user = max(is_user, excluded.is_user),
                reason = excluded.reason, closed = excluded.closed
                """,
            arguments: [
                Int64(bitPattern: row.code), row.start, Int(row.shard), row.epoch, row.end, row.watched, row.stalled,
                row.dimensions.playback.rawValue, row.dimensions.rendition, row.dimensions.region,
                row.dimensions.client.rawValue, row.switches, row.viewer.map { Int64(bitPattern: $0) }, row.isUser,
                row.reason?.rawValue, row.isClosed,
            ]
        )
    }

    private static func save(_ row: MinuteRow, in database: Database) throws {
        // The empty name of a protocol stands for the room as a whole.
        let dimensions = row.key.dimensions
        let playback: String = dimensions?.playback.rawValue ?? ""
        let client: String = dimensions?.client.rawValue ?? ""
        let rendition: String = dimensions?.rendition ?? ""
        let region: String = dimensions?.region ?? ""
        let leaves = row.leaves
        try database.execute(
            sql: """
                INSERT INTO minute (room, epoch, minute, protocol, rendition, region, client, watched, joins, gone,
                timed_out, too_slow, room_ended, shutdown, switches, least, most, last)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (epoch, minute, protocol, rendition, region, client) DO UPDATE SET
                watched = watched + excluded.watched, joins = joins + excluded.joins, gone = gone + excluded.gone,
                timed_out = timed_out + excluded.timed_out, too_slow = too_slow + excluded.too_slow,
                room_ended = room_ended + excluded.room_ended, shutdown = shutdown + excluded.shutdown,
                switches = switches + excluded.switches, least = min(least, excluded.least),
                most = max(most, excluded.most), last = excluded.last
                """,
            arguments: [
                row.key.room, row.key.epoch, row.key.minute, playback, rendition, region, client, row.watched,
                row.joins,
                leaves[0], leaves[1], leaves[2], leaves[3], leaves[4], row.switches, row.minimum, row.maximum, row.last,
            ]
        )
    }

    private static func save(_ row: BroadcastRow, in database: Database) throws {
        try database.execute(
            sql: """
                INSERT INTO broadcast (epoch, room, room_sid, began, ended, on_air, peak, peak_at, users, devices, estimated,
                approximate, stalled, startup, startups, excluded) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (epoch) DO UPDATE SET room_sid = excluded.room_sid, ended = excluded.ended,
                on_air = excluded.on_air, peak = excluded.peak, peak_at = excluded.peak_at, users = excluded.users,
                devices = excluded.devices, estimated = excluded.estimated, approximate = excluded.approximate,
                stalled = excluded.stalled, startup = excluded.startup, startups = excluded.startups,
                excluded = excluded.excluded
                """,
            arguments: [
                row.epoch, row.room, row.roomSID, row.began, row.ended, row.onAir, row.peak, row.peakAt,
                row.uniques.users, row.uniques.devices, row.uniques.estimated, row.uniques.isApproximate, row.stalled,
                row.startup, row.startups, row.excluded.map(String.init).joined(separator: " "),
            ]
        )
        guard row.ended != nil, let peak = try computedPeak(of: row.epoch, in: database) else { return }
        try database.execute(
            sql: "UPDATE broadcast SET settled_peak = ?, settled_peak_at = ? WHERE epoch = ?",
            arguments: [peak.viewers, peak.at, row.epoch]
        )
    }

    // MARK: Reading

    /// What an earlier run left open.
    func load() throws(StoreFault) -> RecoveredAudience {
        try read { database in
            var recovered = RecoveredAudience(lastSeen: try Int64.fetchOne(database, sql: "SELECT last_seen FROM run"))
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
            recovered.viewers = try Row.fetchAll(
                database,
                sql: "SELECT DISTINCT epoch, code, viewer, is_user FROM session WHERE \(open)"
            ).map { row in
                RecoveredAudience.Viewer(
                    epoch: try row.decode(forColumn: "epoch"),
                    session: UInt64(bitPattern: try row.decode(Int64.self, forColumn: "code")),
                    viewer: try row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) },
                    isUser: try row.decode(forColumn: "is_user")
                )
            }
            return recovered
        }
    }

    func broadcasts(room: String, limit: Int) throws(StoreFault) -> [BroadcastRow] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: "SELECT * FROM broadcast WHERE room = ? ORDER BY epoch DESC LIMIT ?",
                arguments: [room, limit]
            ).map { try BroadcastRow($0) }
        }
    }

    func minutes(room: String, from: Int64, to: Int64, limit: Int) throws(StoreFault) -> [MinuteRow] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT * FROM minute WHERE room = ? AND minute >= ? AND minute < ? ORDER BY minute, epoch, protocol,
                    rendition, region, client LIMIT ?
                    """,
                arguments: [room, from, to, limit]
            ).map { try MinuteRow($0) }
        }
    }

    func sums(epoch: Int64) throws(StoreFault) -> [MinuteRow] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT room, epoch, 0 AS minute, protocol, rendition, region, client, \(Self.sums)
                    FROM minute WHERE epoch = ? AND protocol <> '' GROUP BY protocol, rendition, region, client
                    """,
                arguments: [epoch]
            ).map { try MinuteRow($0) }
        }
    }

    func sessions(epoch: Int64, after: (start: Int64, code: UInt64)?, limit: Int) throws(StoreFault) -> [SessionRow] {
        try read { database in
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

    func settledPeak(epoch: Int64) throws(StoreFault) -> (viewers: Int, at: Int64)? {
        try read { database in
            let stored = try Row.fetchOne(
                database,
                sql: "SELECT settled_peak, settled_peak_at FROM broadcast WHERE epoch = ? AND settled_peak IS NOT NULL",
                arguments: [epoch]
            )
            guard let stored else { return try Self.computedPeak(of: epoch, in: database) }
            return (try stored.decode(forColumn: "settled_peak"), try stored.decode(forColumn: "settled_peak_at"))
        }
    }

    /// A walk over all beginnings and ends; at the same moment those who leave go first.
    private static func computedPeak(of epoch: Int64, in database: Database) throws -> (viewers: Int, at: Int64)? {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT viewers, at FROM (
                    SELECT at, sum(change) OVER (ORDER BY at, change ROWS UNBOUNDED PRECEDING) AS viewers FROM (
                        SELECT began AS at, 1 AS change FROM session WHERE epoch = :epoch
                        UNION ALL SELECT ended, -1 FROM session WHERE epoch = :epoch AND ended IS NOT NULL
                        UNION ALL SELECT went, -1 FROM gap WHERE epoch = :epoch
                        UNION ALL SELECT came, 1 FROM gap WHERE epoch = :epoch
                    )
                ) ORDER BY viewers DESC, at LIMIT 1
                """,
            arguments: ["epoch": epoch]
        )
        return try row.map { (try $0.decode(forColumn: "viewers"), try $0.decode(forColumn: "at")) }
    }

    private static let sums = """
        sum(watched) AS watched, sum(joins) AS joins, sum(gone) AS gone, sum(timed_out) AS timed_out,
        sum(too_slow) AS too_slow, sum(room_ended) AS room_ended, sum(shutdown) AS shutdown, sum(switches) AS switches,
        min(least) AS least, max(most) AS most, 0 AS last
        """
    private static let sessionColumns =
        "SELECT session.*, broadcast.room AS room FROM session JOIN broadcast USING (epoch)"

    private func read<Outcome>(_ body: (Database) throws -> Outcome) throws(StoreFault) -> Outcome {
        try Self.translated { try pool.read(body) }
    }

    // MARK: The shape

    /// The tables, a step for every version there ever was.
    private static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 history") { database in
            try database.execute(
                sql: """
                    CREATE TABLE run (id INTEGER PRIMARY KEY CHECK (id = 1), last_seen INTEGER NOT NULL);
                    CREATE TABLE broadcast (
                        epoch INTEGER PRIMARY KEY NOT NULL, room TEXT NOT NULL, room_sid TEXT NOT NULL,
                        began INTEGER NOT NULL, ended INTEGER, on_air INTEGER NOT NULL,
                        peak INTEGER NOT NULL, peak_at INTEGER, settled_peak INTEGER, settled_peak_at INTEGER,
                        users INTEGER NOT NULL, devices INTEGER NOT NULL, estimated INTEGER NOT NULL,
                        approximate INTEGER NOT NULL, stalled INTEGER NOT NULL, startup INTEGER NOT NULL,
                        startups INTEGER NOT NULL, excluded TEXT NOT NULL
                    );
                    CREATE INDEX broadcast_by_room ON broadcast (room, epoch);
                    CREATE TABLE minute (
                        room TEXT NOT NULL, epoch INTEGER NOT NULL, minute INTEGER NOT NULL, protocol TEXT NOT NULL,
                        rendition TEXT NOT NULL, region TEXT NOT NULL, client TEXT NOT NULL, watched INTEGER NOT NULL,
                        joins INTEGER NOT NULL, gone INTEGER NOT NULL, timed_out INTEGER NOT NULL,
                        too_slow INTEGER NOT NULL, room_ended INTEGER NOT NULL, shutdown INTEGER NOT NULL,
                        switches INTEGER NOT NULL, least INTEGER NOT NULL, most INTEGER NOT NULL, last INTEGER NOT NULL,
                        PRIMARY KEY (epoch, minute, protocol, rendition, region, client)
                    ) WITHOUT ROWID;
                    CREATE INDEX minute_by_room ON minute (room, minute);
                    CREATE TABLE session (
                        code INTEGER NOT NULL, began INTEGER NOT NULL, shard INTEGER NOT NULL, epoch INTEGER NOT NULL,
                        ended INTEGER, watched INTEGER NOT NULL, stalled INTEGER NOT NULL, protocol TEXT NOT NULL,
                        rendition TEXT NOT NULL, region TEXT NOT NULL, client TEXT NOT NULL, switches INTEGER NOT NULL,
                        viewer INTEGER, is_user INTEGER NOT NULL, reason TEXT, closed INTEGER NOT NULL,
                        PRIMARY KEY (code, began)
                    ) WITHOUT ROWID;
                    CREATE INDEX session_by_broadcast ON session (epoch, began, code);
                    CREATE INDEX session_open ON session (epoch) WHERE closed = 0;
                    CREATE INDEX session_by_end ON session (ended) WHERE closed = 1;
                    CREATE TABLE gap (
                        code INTEGER NOT NULL, epoch INTEGER NOT NULL, went INTEGER NOT NULL, came INTEGER NOT NULL,
                        UNIQUE (epoch, code, went)
                    );
                    """
            )
        }
        return migrator
    }

    /// Refuses a file whose pages do not fit together, and one that a later version has changed.
    private static func check(_ pool: DatabasePool) throws {
        try pool.read { database in
            let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? "no answer"
            guard finding == "ok" else { throw StoreFault.damaged(finding) }
            if try migrations.hasBeenSuperseded(database) {
                throw StoreFault.damaged("written by a later version")
            }
        }
    }

    /// - Parameter isOpen: Whether an error in a statement means that the tables are not ours, rather than that the place
    ///   is not good for a database.
    private static func translated<Outcome>(
        isOpen: Bool = true,
        _ body: () throws -> Outcome
    ) throws(StoreFault) -> Outcome {
        do {
            return try body()
        } catch let fault as StoreFault {
            throw fault
        } catch let error as DatabaseError {
            let reason = "\(error.extendedResultCode): \(error.message ?? "no message")"
            switch error.resultCode {
            case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_FORMAT, .SQLITE_MISMATCH: throw .damaged(reason)
            case .SQLITE_ERROR where isOpen: throw .damaged(reason)
            default: throw .unavailable(reason)
            }
        } catch let error as RowDecodingError {
            throw .damaged("\(error)")
        } catch {
            throw .unavailable("\(error)")
        }
    }
}

extension BroadcastRow {
    fileprivate init(_ row: Row) throws {
        try self.init(
            epoch: row.decode(forColumn: "epoch"),
            room: row.decode(forColumn: "room"),
            roomSID: row.decode(forColumn: "room_sid"),
            began: row.decode(forColumn: "began"),
            ended: row.decode(forColumn: "ended"),
            onAir: row.decode(forColumn: "on_air"),
            peak: row.decode(forColumn: "peak"),
            peakAt: row.decode(forColumn: "peak_at"),
            uniques: UniqueViewers(
                users: row.decode(forColumn: "users"),
                devices: row.decode(forColumn: "devices"),
                estimated: row.decode(forColumn: "estimated"),
                isApproximate: row.decode(forColumn: "approximate")
            ),
            stalled: row.decode(forColumn: "stalled"),
            startup: row.decode(forColumn: "startup"),
            startups: row.decode(forColumn: "startups"),
            excluded: row.decode(String.self, forColumn: "excluded").split(separator: " ").map { Int($0) ?? 0 }
        )
    }
}

extension Dimensions {
    /// Nil in the row of a whole room.
    fileprivate init?(_ row: Row) throws {
        guard let playback = PlaybackProtocol(rawValue: try row.decode(forColumn: "protocol")) else { return nil }
        try self.init(
            playback: playback,
            rendition: row.decode(forColumn: "rendition"),
            region: row.decode(forColumn: "region"),
            client: ClientClass(rawValue: row.decode(forColumn: "client")) ?? .unknown
        )
    }
}

extension MinuteRow {
    fileprivate init(_ row: Row) throws {
        try self.init(
            key: Key(
                room: row.decode(forColumn: "room"),
                epoch: row.decode(forColumn: "epoch"),
                minute: row.decode(forColumn: "minute"),
                dimensions: Dimensions(row)
            ),
            watched: row.decode(forColumn: "watched"),
            joins: row.decode(forColumn: "joins"),
            leaves: ["gone", "timed_out", "too_slow", "room_ended", "shutdown"].map { try row.decode(forColumn: $0) },
            switches: row.decode(forColumn: "switches"),
            minimum: row.decode(forColumn: "least"),
            maximum: row.decode(forColumn: "most"),
            last: row.decode(forColumn: "last")
        )
    }
}

extension SessionRow {
    fileprivate init(_ row: Row) throws {
        try self.init(
            code: UInt64(bitPattern: row.decode(Int64.self, forColumn: "code")),
            shard: UInt8(clamping: row.decode(Int.self, forColumn: "shard")),
            room: row.decode(forColumn: "room"),
            epoch: row.decode(forColumn: "epoch"),
            start: row.decode(forColumn: "began"),
            end: row.decode(forColumn: "ended"),
            watched: row.decode(forColumn: "watched"),
            stalled: row.decode(forColumn: "stalled"),
            dimensions: Dimensions(row) ?? Dimensions(playback: .sdk),
            switches: row.decode(forColumn: "switches"),
            viewer: row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) },
            isUser: row.decode(forColumn: "is_user"),
            reason: row.decode(String?.self, forColumn: "reason").flatMap { AudienceEvent.CloseReason(rawValue: $0) },
            isClosed: row.decode(forColumn: "closed")
        )
    }
}
