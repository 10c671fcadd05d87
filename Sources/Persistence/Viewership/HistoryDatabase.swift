import Foundation
import GRDB
import Stage
import Viewership

/// The viewership history in SQLite.
///
/// The write-ahead log is synced at checkpoints only: a crash of the process loses nothing that was committed, one of
/// the machine at most the last seconds. Readers have their own connections and do not block the writer.
struct HistoryDatabase: StoreSchema {
    static let label = "viewership"
    static let content = "viewership figures"
    static let durability = StoreDatabase.Durability.checkpoints
    static let readers = 2
    static let quarantineWord = "aside"

    let store: StoreDatabase
}

extension HistoryDatabase {
    /// The schema, with one migration per version.
    static var migrations: DatabaseMigrator {
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
        migrator.registerMigration("2 estimates and reports") { database in
            try database.execute(
                sql: """
                    ALTER TABLE session ADD COLUMN estimate INTEGER;
                    ALTER TABLE session ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE broadcast ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;
                    """
            )
        }
        migrator.registerMigration("3 how far a session's time is told") { database in
            try database.execute(
                sql: """
                    ALTER TABLE session ADD COLUMN watched_until INTEGER;
                    ALTER TABLE session ADD COLUMN poll INTEGER NOT NULL DEFAULT 0;
                    UPDATE session SET watched_until = began + watched WHERE closed = 0 AND ended IS NULL;
                    """
            )
        }
        migrator.registerMigration("4 what a session was sent") { database in
            try database.execute(
                sql: """
                    ALTER TABLE session ADD COLUMN renditions TEXT;
                    ALTER TABLE session ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
                    """
            )
        }
        migrator.registerMigration("5 the time on the air") { database in
            // Earlier versions have no time on air per minute: all watch time counts as on air.
            try database.execute(
                sql: """
                    ALTER TABLE minute ADD COLUMN aired INTEGER NOT NULL DEFAULT 0;
                    UPDATE minute SET aired = watched WHERE protocol <> '';
                    UPDATE minute SET aired = 60000 WHERE protocol = '' AND EXISTS (
                        SELECT 1 FROM broadcast WHERE broadcast.epoch = minute.epoch AND began <= minute * 60000
                        AND coalesce(ended, (SELECT last_seen FROM run), 0) >= (minute + 1) * 60000
                    );
                    CREATE INDEX minute_by_time ON minute (minute);
                    CREATE TABLE seen (
                        epoch INTEGER NOT NULL, code INTEGER NOT NULL, viewer INTEGER, is_user INTEGER NOT NULL,
                        estimate INTEGER, PRIMARY KEY (epoch, code)
                    ) WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("6 when viewers were last heard of") { database in
            try database.execute(
                sql: """
                    ALTER TABLE session ADD COLUMN place INTEGER;
                    CREATE TABLE last_hit (shard INTEGER PRIMARY KEY NOT NULL, as_of INTEGER NOT NULL, ages BLOB NOT NULL);
                    """
            )
        }
        migrator.registerMigration("7 ids never seen again") { database in
            try database.execute(sql: "ALTER TABLE broadcast ADD COLUMN unseen INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("8 waits and peaks of groups") { database in
            // Earlier versions have stalls and startups per broadcast only: they go to the minute that was watched
            // most.
            try database.execute(
                sql: """
                    ALTER TABLE minute ADD COLUMN stalled INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE minute ADD COLUMN startup INTEGER NOT NULL DEFAULT 0;
                    ALTER TABLE minute ADD COLUMN startups INTEGER NOT NULL DEFAULT 0;
                    UPDATE minute SET (stalled, startup, startups) = (
                        SELECT stalled, startup, startups FROM broadcast WHERE broadcast.epoch = minute.epoch
                    ) WHERE (epoch, minute, protocol, rendition, region, client) IN (
                        SELECT epoch, minute, protocol, rendition, region, client FROM (
                            SELECT *, row_number() OVER (PARTITION BY epoch ORDER BY watched DESC, minute) AS place
                            FROM minute WHERE protocol <> ''
                        ) WHERE place = 1 AND epoch IN (SELECT epoch FROM broadcast)
                    );
                    ALTER TABLE broadcast DROP COLUMN stalled;
                    ALTER TABLE broadcast DROP COLUMN startup;
                    ALTER TABLE broadcast DROP COLUMN startups;
                    CREATE TABLE group_peak (
                        epoch INTEGER NOT NULL, minute INTEGER NOT NULL, grouping TEXT NOT NULL, name TEXT NOT NULL,
                        most INTEGER NOT NULL, PRIMARY KEY (epoch, minute, grouping, name)
                    ) WITHOUT ROWID;
                    """
            )
        }
        migrator.registerMigration("9 counters of no room") { database in
            try database.execute(sql: "ALTER TABLE run ADD COLUMN counters BLOB")
        }
        migrator.registerMigration("10 moves of sessions") { database in
            try database.execute(
                sql: """
                    CREATE TABLE move (
                        code INTEGER NOT NULL, epoch INTEGER NOT NULL, at INTEGER NOT NULL, protocol TEXT NOT NULL,
                        rendition TEXT NOT NULL, region TEXT NOT NULL, client TEXT NOT NULL, UNIQUE (epoch, code, at)
                    );
                    """
            )
        }
        migrator.registerMigration("11 sessions that logs tell of") { database in
            try database.execute(sql: "ALTER TABLE session ADD COLUMN logged INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("12 how long playbacks lasted") { database in
            // Null until the sessions of a broadcast are about to be deleted, empty if that is not known of it.
            try database.execute(sql: "ALTER TABLE broadcast ADD COLUMN retention BLOB")
        }
        return migrator
    }
}

extension HistoryDatabase {
    /// Writes a batch in one transaction.
    func save(_ batch: HistoryBatch) throws(StoreFault) {
        try store.write { database in
            let counters = try batch.counters.map { try JSONEncoder().encode($0) }
            for row in batch.sessions.values { try Self.save(row, in: database) }
            for row in batch.gaps {
                try Self.run(
                    "INSERT OR IGNORE INTO gap (code, epoch, went, came) VALUES (?, ?, ?, ?)",
                    with: [Int64(bitPattern: row.code), row.epoch, row.from, row.to],
                    in: database
                )
            }
            for row in batch.moves {
                try Self.run(
                    """
                    INSERT OR IGNORE INTO move (code, epoch, at, protocol, rendition, region, client)
                    VALUES (?, ?, ?, ?, ?, ?, ?)
                    """,
                    with: [
                        Int64(bitPattern: row.code), row.epoch, row.at, row.from.playback.rawValue, row.from.rendition,
                        row.from.region, row.from.client.rawValue,
                    ],
                    in: database
                )
            }
            for row in batch.minutes.values { try Self.save(row, in: database) }
            for (peak, most) in batch.peaks {
                try Self.run(
                    """
                    INSERT INTO group_peak (epoch, minute, grouping, name, most) VALUES (?, ?, ?, ?, ?)
                    ON CONFLICT (epoch, minute, grouping, name) DO UPDATE SET most = max(most, excluded.most)
                    """,
                    with: [peak.epoch, peak.minute, peak.group.grouping.rawValue, peak.group.name, most],
                    in: database
                )
            }
            for row in batch.broadcasts.values { try Self.save(row, in: database) }
            for (shard, hits) in batch.lastHits {
                try Self.run(
                    "INSERT OR REPLACE INTO last_hit (shard, as_of, ages) VALUES (?, ?, ?)",
                    with: [Int(shard), hits.asOf, hits.bytes],
                    in: database
                )
            }
            try Self.run(
                """
                INSERT INTO run (id, last_seen, counters) VALUES (1, ?, ?) ON CONFLICT (id) DO UPDATE SET
                last_seen = excluded.last_seen, counters = coalesce(excluded.counters, counters)
                """,
                with: [batch.asOf, counters],
                in: database
            )
        }
    }

    /// Closes what an earlier run left open, at the time at which that run was last known to live.
    func closeOpenRows() throws(StoreFault) {
        try store.write { database in
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

    /// Deletes expired rows, a few thousand at a time.
    ///
    /// - Parameters: Milliseconds since 1970; nil for rows that never expire.
    /// - Returns: Whether more rows are left to delete.
    func deleteExpired(sessionsBefore: Int64, minutesBefore: Int64?) throws(StoreFault) -> Bool {
        let step = 5000
        return try store.write { database in
            // One broadcast in each transaction, because it reads all of its sessions.
            if try Self.settleRetention(before: sessionsBefore, in: database) { return true }
            try Self.preserveAggregates(before: sessionsBefore, in: database)
            try database.execute(
                sql: """
                    DELETE FROM session WHERE (code, began) IN
                    (SELECT code, began FROM session WHERE closed = 1 AND ended < ? LIMIT ?)
                    """,
                arguments: [sessionsBefore, step]
            )
            var deleted = database.changesCount
            for (table, moment) in [("gap", "came"), ("move", "at")] {
                try database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE rowid IN (SELECT rowid FROM \(table) AS one WHERE \(moment) < ?
                        AND NOT EXISTS (SELECT 1 FROM session WHERE session.code = one.code AND session.epoch = one.epoch)
                        LIMIT ?)
                        """,
                    arguments: [sessionsBefore, step]
                )
                deleted = max(deleted, database.changesCount)
            }
            try database.execute(
                sql: "DELETE FROM seen WHERE epoch NOT IN (SELECT epoch FROM broadcast WHERE ended IS NULL)"
            )
            guard let minutesBefore else { return deleted == step }
            // Whole minutes, so that a broadcast is not deleted before its last minute.
            let minute = minutesBefore / 60_000
            for table in ["minute", "group_peak"] {
                try database.execute(
                    sql: """
                        DELETE FROM \(table) WHERE minute < ?
                        AND (epoch = 0 OR epoch IN (SELECT epoch FROM broadcast WHERE ended < ?))
                        """,
                    arguments: [minute, minute * 60_000]
                )
            }
            try database.execute(sql: "DELETE FROM broadcast WHERE ended < ?", arguments: [minute * 60_000])
            return deleted == step
        }
    }

    /// Stores how long the playbacks of an ended broadcast lasted before its sessions are deleted.
    ///
    /// Nothing is known of a broadcast whose sessions have been deleted in part: one that outlasted them, or of an earlier
    /// version.
    ///
    /// - Returns: Whether there was such a broadcast.
    private static func settleRetention(before moment: Int64, in database: Database) throws -> Bool {
        let found = try Row.fetchOne(
            database,
            sql: """
                SELECT * FROM broadcast WHERE retention IS NULL AND ended IS NOT NULL AND began < ?
                AND EXISTS (SELECT 1 FROM session WHERE session.epoch = broadcast.epoch) LIMIT 1
                """,
            arguments: [moment]
        )
        guard let broadcast = try found.map({ try BroadcastRow($0) }), let end = broadcast.ended else { return false }
        let isComplete =
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT 100 * (SELECT count(*) FROM session WHERE epoch = :epoch)
                    >= 99 * (SELECT coalesce(sum(joins), 0) FROM minute WHERE epoch = :epoch)
                    """,
                arguments: ["epoch": broadcast.epoch]
            ) ?? false
        var settled = Data()
        if isComplete {
            let step = AudienceRetention.settledStep(of: end - broadcast.began)
            let found = try durations(of: broadcast, until: end, step: step, in: database)
            settled = try JSONEncoder().encode(found)
        }
        try database.execute(
            sql: "UPDATE broadcast SET retention = ? WHERE epoch = ?",
            arguments: [settled, broadcast.epoch]
        )
        return true
    }

    /// Preserves the peak and the distinct viewers of a broadcast in progress before its expired sessions are deleted.
    private static func preserveAggregates(before moment: Int64, in database: Database) throws {
        let epochs = try Int64.fetchAll(
            database,
            sql: """
                SELECT DISTINCT epoch FROM session WHERE closed = 1 AND ended < ?
                AND epoch IN (SELECT epoch FROM broadcast WHERE ended IS NULL)
                """,
            arguments: [moment]
        )
        for epoch in epochs {
            if let peak = try computedPeak(of: epoch, until: moment, in: database) {
                try store(peak, epoch: epoch, in: database)
            }
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO seen SELECT epoch, code, viewer, is_user, estimate FROM session
                    WHERE epoch = ? AND closed = 1 AND ended < ?
                    """,
                arguments: [epoch, moment]
            )
        }
    }

    /// Stores the settled peak of a broadcast, unless a higher one is stored.
    private static func store(_ peak: (viewers: Int, at: Int64), epoch: Int64, in database: Database) throws {
        try database.execute(
            sql: """
                UPDATE broadcast SET settled_peak = :peak, settled_peak_at = :at
                WHERE epoch = :epoch AND coalesce(settled_peak, -1) < :peak
                """,
            arguments: ["peak": peak.viewers, "at": peak.at, "epoch": epoch]
        )
    }

    private static func save(_ row: SessionRow, in database: Database) throws {
        if let previous = row.previousStart {
            try run(
                "UPDATE OR IGNORE session SET began = ? WHERE code = ? AND began = ?",
                with: [row.start, Int64(bitPattern: row.code), previous],
                in: database
            )
        }
        try run(
            """
            INSERT INTO session (code, began, shard, epoch, ended, watched, stalled, protocol, rendition, region, client,
            switches, viewer, is_user, estimate, heard, reason, closed, watched_until, poll, renditions,
            bytes, place, logged)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (code, began) DO UPDATE SET place = excluded.place, ended = excluded.ended, watched = max(watched, excluded.watched),
            stalled = max(stalled, excluded.stalled), protocol = excluded.protocol, rendition = excluded.rendition,
            region = excluded.region, client = excluded.client, switches = excluded.switches,
            viewer = coalesce(excluded.viewer, viewer), is_user = max(is_user, excluded.is_user),
            estimate = coalesce(excluded.estimate, estimate), heard = max(heard, excluded.heard),
            reason = excluded.reason, closed = excluded.closed, watched_until = excluded.watched_until,
            poll = excluded.poll, renditions = excluded.renditions, bytes = max(bytes, excluded.bytes),
            logged = excluded.logged
            """,
            with: [
                Int64(bitPattern: row.code), row.start, Int(row.shard), row.epoch, row.end, row.watched, row.stalled,
                row.dimensions.playback.rawValue, row.dimensions.rendition, row.dimensions.region,
                row.dimensions.client.rawValue, row.switches, row.viewer.map { Int64(bitPattern: $0) }, row.isUser,
                row.estimate.map { Int64(bitPattern: $0) }, row.hasReported, row.reason?.rawValue, row.isClosed,
                row.watchedUntil, row.poll, RenditionList.text(of: row.renditions), row.bytes, row.index,
                row.isLogged,
            ],
            in: database
        )
    }

    private static func save(_ row: MinuteRow, in database: Database) throws {
        // An empty protocol marks the row of the whole room.
        let dimensions = row.key.dimensions
        let playback: String = dimensions?.playback.rawValue ?? ""
        let client: String = dimensions?.client.rawValue ?? ""
        let rendition: String = dimensions?.rendition ?? ""
        let region: String = dimensions?.region ?? ""
        let counts = row.counts
        let leaves = CloseReasonCounters.allReasons.map { counts.leaves[$0] }
        try run(
            """
            INSERT INTO minute (room, epoch, minute, protocol, rendition, region, client, watched, joins, gone,
            timed_out, too_slow, room_ended, shutdown, switches, least, most, last, aired, stalled, startup, startups)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (epoch, minute, protocol, rendition, region, client) DO UPDATE SET
            watched = watched + excluded.watched, joins = joins + excluded.joins, gone = gone + excluded.gone,
            timed_out = timed_out + excluded.timed_out, too_slow = too_slow + excluded.too_slow,
            room_ended = room_ended + excluded.room_ended, shutdown = shutdown + excluded.shutdown,
            switches = switches + excluded.switches, least = min(least, excluded.least),
            most = max(most, excluded.most), last = excluded.last, aired = aired + excluded.aired,
            stalled = stalled + excluded.stalled, startup = startup + excluded.startup,
            startups = startups + excluded.startups
            """,
            with: [
                row.key.room, row.key.epoch, row.key.minute, playback, rendition, region, client, counts.watched,
                counts.joins, leaves[0], leaves[1], leaves[2], leaves[3], leaves[4], counts.switches, row.minimum,
                row.maximum, row.last, row.aired, counts.stalled, counts.startup, counts.startups,
            ],
            in: database
        )
    }

    private static func save(_ row: BroadcastRow, in database: Database) throws {
        try run(
            """
            INSERT INTO broadcast (epoch, room, room_sid, began, ended, on_air, peak, peak_at, users, devices, estimated,
            approximate, excluded, heard, unseen)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (epoch) DO UPDATE SET room_sid = excluded.room_sid, ended = excluded.ended,
            on_air = excluded.on_air, peak = excluded.peak, peak_at = excluded.peak_at, users = excluded.users,
            devices = excluded.devices, estimated = excluded.estimated, approximate = excluded.approximate,
            excluded = excluded.excluded, heard = excluded.heard, unseen = excluded.unseen
            """,
            with: [
                row.epoch, row.room, row.roomSID, row.began, row.ended, row.onAir, row.peak, row.peakAt,
                row.uniques.users, row.uniques.devices, row.uniques.estimated, row.uniques.isApproximate,
                row.excluded.map(String.init).joined(separator: " "),
                row.reportingSessions, row.unusedIDs,
            ],
            in: database
        )
        guard row.ended != nil, let peak = try computedPeak(of: row.epoch, in: database) else { return }
        try store(peak, epoch: row.epoch, in: database)
    }

    /// Runs a frequent statement from the cache, because preparing it takes longer than executing it.
    private static func run(_ sql: String, with arguments: StatementArguments, in database: Database) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

extension HistoryDatabase {
    /// Loads the state that an earlier run left open.
    func load() throws(StoreFault) -> RecoveredAudience {
        try store.read { database in
            var recovered = RecoveredAudience()
            recovered.lastSeen = try Row.fetchOne(database, sql: "SELECT last_seen FROM run")?.optionalNumber(
                "last_seen"
            )
            if let counters = try Data.fetchOne(database, sql: "SELECT counters FROM run") {
                // Counters that cannot be decoded start at zero.
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
                sql: "SELECT * FROM broadcast WHERE room = ? OR room_sid = ? ORDER BY epoch DESC LIMIT ?",
                arguments: [room, room, limit]
            ).map { try BroadcastRow($0) }
        }
    }

    /// Broadcasts that ended after a moment, ordered by their end.
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

    /// The interruptions of the sessions from `first` through `last`, in the order of `sessions`.
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

    /// The stored settled peak: of an ended broadcast the whole one, of one in progress that of its deleted sessions.
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

    /// The settled peak computed from the session rows.
    func computedPeak(epoch: Int64) throws(StoreFault) -> (viewers: Int, at: Int64)? {
        try store.read { try Self.computedPeak(of: epoch, in: $0) }
    }

    /// Sweeps over all starts and ends; at equal times ends come first.
    ///
    /// - Parameter until: Limits the sweep to sessions before it; nil for all.
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

// Queries of reports.
extension HistoryDatabase {
    /// The minutes of one room or of all, summed in steps.
    ///
    /// - Parameter sid: The sid of the one room of that name whose broadcasts count; nil for all of them.
    func minutes(
        room: String?,
        sid: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipGrouping?,
        limit: Int
    ) throws(StoreFault) -> [MinuteRow] {
        func column(_ name: ViewershipGrouping, or other: String) -> String {
            grouping == name ? name.rawValue : other
        }
        // The total over all rooms has its own rows, because peaks of rooms cannot be summed.
        let own = "epoch IN (SELECT epoch FROM broadcast WHERE \(sid == nil ? "room" : "room_sid") = :room)"
        let filter = room == nil ? "(protocol <> '' OR room = '')" : sid == nil ? "room = :room" : own
        let name = sid ?? room
        let step: StatementArguments = ["from": from, "to": to, "step": step]
        let index = ":from + (minute - :from) / :step * :step AS minute"
        return try store.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT '' AS room, 0 AS epoch, \(index),
                    CASE protocol WHEN '' THEN '' ELSE \(column(.playback, or: "'hls'")) END AS protocol,
                    \(column(.rendition, or: "''")) AS rendition, \(column(.region, or: "''")) AS region,
                    \(column(.client, or: "''")) AS client, \(Self.sums)
                    FROM minute WHERE \(filter) AND minute >= :from AND minute < :to
                    GROUP BY 3, 4, 5, 6, 7 ORDER BY 3, 4, 5, 6, 7 LIMIT :limit
                    """,
                arguments: step + (name.map { ["room": $0, "limit": limit] } ?? ["limit": limit])
            ).map { try MinuteRow($0) }
            guard let grouping else { return rows }
            var peaks: [GroupPeak: Int] = [:]
            let peakRows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(index), name, max(most) AS most FROM group_peak
                    WHERE \(room == nil ? "epoch = 0" : own)
                    AND minute >= :from AND minute < :to AND grouping = :grouping GROUP BY 1, 2
                    """,
                arguments: step + ["grouping": grouping.rawValue] + (name.map { ["room": $0] } ?? [:])
            )
            while let row = try peakRows.next() {
                let group = ViewerGroup(grouping, try row.decode(forColumn: "name"))
                let peak = GroupPeak(epoch: 0, minute: try row.minute(), group: group)
                peaks[peak] = try row.number("most")
            }
            return rows.map { row in
                guard let dimensions = row.key.dimensions else { return row }
                var row = row
                let group = ViewerGroup(grouping, grouping.group(of: dimensions))
                row.maximum = peaks[GroupPeak(epoch: 0, minute: row.key.minute, group: group)] ?? 0
                return row
            }
        }
    }

    /// The time on air of any program: of each minute the longest broadcast counts.
    func air(from: Int64, to: Int64) throws(StoreFault) -> PeriodFigures.Air {
        let period: StatementArguments = ["from": from, "to": to]
        return try store.read { database in
            var air = PeriodFigures.Air()
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT coalesce(sum(aired), 0) AS aired FROM (
                        SELECT min(60000, max(CASE protocol WHEN '' THEN aired ELSE 0 END)) AS aired
                        FROM minute WHERE minute >= :from AND minute < :to GROUP BY minute
                    )
                    """,
                arguments: period
            )
            if let row { air.duration = try row.number("aired") }
            air.broadcasts =
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT count(DISTINCT epoch) FROM minute
                        WHERE minute >= :from AND minute < :to AND epoch <> 0
                        """,
                    arguments: period
                ) ?? 0
            air.peak = try Row.fetchOne(
                database,
                sql: """
                    SELECT most, minute FROM minute WHERE epoch = 0 AND minute >= :from AND minute < :to AND most > 0
                    ORDER BY most DESC, minute LIMIT 1
                    """,
                arguments: period
            ).map { (try $0.number("most"), try $0.minute()) }
            return air
        }
    }

    func sums(of scope: ReportScope) throws(StoreFault) -> [MinuteRow] {
        try store.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT '' AS room, 0 AS epoch, 0 AS minute, protocol, rendition, region, client, \(Self.sums)
                    FROM minute WHERE \(scope.minutes) AND protocol <> ''
                    GROUP BY protocol, rendition, region, client
                    """,
                arguments: scope.arguments
            ).map { try MinuteRow($0) }
        }
    }

    /// Whether every broadcast of the scope has ended.
    func hasEnded(_ scope: ReportScope) throws(StoreFault) -> Bool {
        try store.read { try Self.hasEnded(scope, in: $0) }
    }

    private static func hasEnded(_ scope: ReportScope, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT min(ended IS NOT NULL) FROM broadcast WHERE \(scope.broadcasts)",
            arguments: scope.arguments
        ) ?? false
    }

    /// The concurrent peaks of groups, as they were sampled live.
    func groups(of scope: ReportScope) throws(StoreFault) -> [ViewerGroup?: GroupFigures] {
        try store.read { database in
            var groups: [ViewerGroup?: GroupFigures] = [:]
            let peaks = try Row.fetchCursor(
                database,
                sql: "SELECT grouping, name, max(most) AS most FROM group_peak WHERE \(scope.peaks) GROUP BY 1, 2",
                arguments: scope.arguments
            )
            while let row = try peaks.next() {
                guard let grouping = ViewershipGrouping(rawValue: try row.decode(forColumn: "grouping"))
                else { continue }
                let group = ViewerGroup(grouping, try row.decode(forColumn: "name"))
                groups[group, default: GroupFigures()].peak = try row.number("most")
            }
            return groups
        }
    }

    /// Distinct viewers of the whole and of each group; nil where sessions may be deleted already.
    ///
    /// Exact up to 100,000 per group, since there may be many groups, and estimated beyond.
    ///
    /// - Parameter retention: Retention of session rows, in milliseconds.
    func uniques(of scope: ReportScope, retention: Int64) throws(StoreFault) -> [ViewerGroup?: UniqueViewers]? {
        let limit = 100_000
        return try store.read { database in
            guard try Self.retainsSessions(of: scope, retention: retention, in: database) else { return nil }
            var counters: [ViewerGroup?: UniqueCounters] = [nil: UniqueCounters(limit: limit)]
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT protocol, rendition, region, client, code, viewer, is_user, estimate, renditions
                    FROM session
                    WHERE \(scope.sessions)
                    """,
                arguments: scope.arguments
            )
            while let row = try rows.next() {
                let session = UInt64(bitPattern: try row.decode(Int64.self, forColumn: "code"))
                let viewer = try row.decode(Int64?.self, forColumn: "viewer").map { UInt64(bitPattern: $0) }
                let isUser = try row.decode(Bool.self, forColumn: "is_user")
                let estimate = try row.decode(Int64?.self, forColumn: "estimate").map { UInt64(bitPattern: $0) }
                var groups = Set<ViewerGroup?>([nil] + (try Dimensions(row)?.groups ?? []))
                // A session row has the last value of the other dimensions, and all renditions.
                for name in RenditionList.names(in: try row.decode(String?.self, forColumn: "renditions") ?? "") {
                    groups.insert(ViewerGroup(.rendition, name))
                }
                for group in groups {
                    counters[group, default: UniqueCounters(limit: limit)]
                        .insert(viewer: viewer, isUser: isUser, estimate: estimate, session: session)
                }
            }
            return counters.mapValues(\.figures)
        }
    }

    /// Whether no session of the scope can have been deleted.
    private static func retainsSessions(of scope: ReportScope, retention: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT \(scope.beginning) >= (SELECT last_seen FROM run) - :retention",
            arguments: scope.arguments + ["retention": retention]
        ) ?? false
    }

    /// The settled peaks of the whole and of each group; empty while a broadcast is in progress, with too many
    /// sessions, or where sessions may be deleted already.
    ///
    /// - Parameter retention: Retention of session rows, in milliseconds.
    func settledPeaks(of scope: ReportScope, retention: Int64) throws(StoreFault) -> [ViewerGroup?: SettledPeak] {
        try store.read { database in
            guard try Self.retainsSessions(of: scope, retention: retention, in: database),
                try Self.hasEnded(scope, in: database)
            else { return [:] }
            let count = try Int.fetchOne(
                database,
                sql: """
                    SELECT count(*) FROM (SELECT 1 FROM session WHERE \(scope.sessions) LIMIT \(Self.scanLimit + 1))
                    """,
                arguments: scope.arguments
            )
            guard (count ?? 0) <= Self.scanLimit else { return [:] }
            let sessions = "(epoch, code) IN (SELECT epoch, code FROM session WHERE \(scope.sessions))"
            func rowsBySession<Line>(
                _ table: String,
                _ order: String,
                _ line: (Row) throws -> Line
            ) throws -> [SessionReference: [Line]] {
                var lines: [SessionReference: [Line]] = [:]
                let rows = try Row.fetchCursor(
                    database,
                    sql: "SELECT * FROM \(table) WHERE \(sessions) ORDER BY \(order)",
                    arguments: scope.arguments
                )
                while let row = try rows.next() { lines[try SessionReference(row), default: []].append(try line(row)) }
                return lines
            }
            let gaps = try rowsBySession("gap", "went") { try GapRow($0) }
            let moves = try rowsBySession("move", "at") { try MoveRow($0) }
            var peaks = SettledPeaks(in: scope.span)
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT epoch, code, began, ended, protocol, rendition, region, client
                    FROM session WHERE \(scope.sessions) AND ended IS NOT NULL
                    """,
                arguments: scope.arguments
            )
            while let row = try rows.next() {
                guard let dimensions = try Dimensions(row) else { continue }
                let reference = try SessionReference(row)
                peaks.add(
                    from: try row.number("began"),
                    to: try row.number("ended"),
                    dimensions: dimensions,
                    gaps: gaps[reference] ?? [],
                    moves: moves[reference] ?? []
                )
            }
            return peaks.found()
        }
    }

    /// How long the playbacks of a broadcast lasted, from its sessions, or as it was settled before they were deleted; nil
    /// where it is not known.
    ///
    /// - Parameter retention: Retention of session rows, in milliseconds.
    func retention(
        of broadcast: BroadcastRow,
        until end: Int64,
        step: Int64,
        retention: Int64
    ) throws(StoreFault) -> AudienceRetention? {
        let scope = ReportScope.broadcast(broadcast.epoch)
        return try store.read { database in
            let settled = try DatabaseValue.fetchOne(
                database,
                sql: "SELECT retention FROM broadcast WHERE epoch = ?",
                arguments: [broadcast.epoch]
            ).flatMap { Data.fromDatabaseValue($0) }
            if let settled {
                // One that cannot be decoded is not known.
                return (try? JSONDecoder().decode(AudienceRetention.self, from: settled))
                    .map { $0.inSteps(of: step, from: broadcast.began, until: end) }
            }
            guard try Self.retainsSessions(of: scope, retention: retention, in: database) else { return nil }
            return try Self.durations(of: broadcast, until: end, step: step, in: database)
        }
    }

    /// How long the playbacks of a broadcast lasted, from all of its sessions.
    private static func durations(
        of broadcast: BroadcastRow,
        until end: Int64,
        step: Int64,
        in database: Database
    ) throws -> AudienceRetention {
        var found = AudienceRetention(began: broadcast.began, end: end, step: step)
        let rows = try Row.fetchCursor(
            database,
            sql: "SELECT began, ended, reason FROM session WHERE epoch = ?",
            arguments: [broadcast.epoch]
        )
        while let row = try rows.next() {
            found.add(
                from: try row.number("began"),
                to: try row.optionalNumber("ended"),
                because: try row.decode(String?.self, forColumn: "reason")
                    .flatMap { AudienceEvent.CloseReason(rawValue: $0) }
            )
        }
        return found
    }

    /// The maximum number of sessions in one sweep.
    private static let scanLimit = 500_000

    /// Identifies a session whose gaps and moves are looked up.
    private struct SessionReference: Hashable {
        var epoch: Int64
        var code: Int64

        init(_ row: Row) throws {
            epoch = try row.number("epoch")
            code = try row.decode(Int64.self, forColumn: "code")
        }
    }

    static let sums = """
        sum(watched) AS watched, sum(aired) AS aired, sum(joins) AS joins, sum(gone) AS gone, sum(timed_out) AS timed_out,
        sum(too_slow) AS too_slow, sum(room_ended) AS room_ended, sum(shutdown) AS shutdown, sum(switches) AS switches,
        sum(stalled) AS stalled, sum(startup) AS startup, sum(startups) AS startups,
        min(least) AS least, max(most) AS most, 0 AS last
        """
}

extension ReportScope {
    fileprivate var arguments: StatementArguments {
        switch self {
        case .broadcast(let epoch): ["epoch": epoch]
        case .period(let minutes): ["from": minutes.lowerBound, "to": minutes.upperBound]
        }
    }

    /// Selects the rows of `minute`.
    fileprivate var minutes: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "minute >= :from AND minute < :to AND epoch <> 0"
        }
    }

    /// Selects the rows of `group_peak`.
    fileprivate var peaks: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "minute >= :from AND minute < :to AND epoch = 0"
        }
    }

    /// Selects the rows of `broadcast`.
    fileprivate var broadcasts: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "began < :to * 60000 AND (ended IS NULL OR ended > :from * 60000)"
        }
    }

    /// The span in milliseconds since 1970.
    fileprivate var span: ClosedRange<Int64> {
        switch self {
        case .broadcast: .min ... .max
        case .period(let minutes): minutes.lowerBound * 60_000...minutes.upperBound * 60_000
        }
    }

    /// Selects the rows of `session`: of a period those that overlap it.
    fileprivate var sessions: String {
        switch self {
        case .broadcast:
            "epoch = :epoch"
        case .period:
            """
            epoch IN (
                SELECT epoch FROM broadcast WHERE \(broadcasts)
            ) AND began < :to * 60000 AND (ended IS NULL OR ended > :from * 60000)
            """
        }
    }

    /// The start of the scope, in milliseconds since 1970.
    fileprivate var beginning: String {
        switch self {
        case .broadcast: "(SELECT began FROM broadcast WHERE epoch = :epoch)"
        case .period: ":from * 60000"
        }
    }
}
