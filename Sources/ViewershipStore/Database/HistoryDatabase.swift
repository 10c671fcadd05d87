import Foundation
import GRDB
import SQLiteStore
import Stage
import Viewership

/// The viewership history in SQLite.
///
/// The write-ahead log is synced at checkpoints only: a crash of the process loses nothing that was committed, one of
/// the machine at most the last seconds. Readers have their own connections and do not block the writer.
struct HistoryDatabase: Sendable {
    let store: StoreDatabase

    /// Opens or creates the database and migrates its schema.
    init(path: String, lockTimeout: Double) throws(StoreFault) {
        store = try StoreDatabase(
            path: path,
            label: "viewership",
            durability: .checkpoints,
            readers: 2,
            lockTimeout: lockTimeout,
            migrations: Self.migrations
        )
    }

    func close() {
        store.close()
    }
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
        let leaves = row.leaves
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
                row.key.room, row.key.epoch, row.key.minute, playback, rendition, region, client, row.watched,
                row.joins, leaves[0], leaves[1], leaves[2], leaves[3], leaves[4], row.switches, row.minimum,
                row.maximum, row.last, row.aired, row.stalled, row.startup, row.startups,
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
