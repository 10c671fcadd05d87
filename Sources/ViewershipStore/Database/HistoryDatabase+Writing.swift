import Foundation
import GRDB
import SQLiteStore
import Stage
import Viewership

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

    /// Ends what an earlier run left open, at the moment at which that run was last known to live.
    func closeLeftovers() throws(StoreFault) {
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

    /// Deletes what is kept no longer, a few thousand rows at a time.
    ///
    /// - Parameters: moments in milliseconds since 1970; nil for what is kept for ever.
    /// - Returns: whether more is left to delete.
    func forget(sessionsBefore: Int64, minutesBefore: Int64?) throws(StoreFault) -> Bool {
        let step = 5000
        return try store.write { database in
            try Self.keepOfOldSessions(before: sessionsBefore, in: database)
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
            // Whole minutes, so that no broadcast goes before its last one.
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

    /// What a broadcast that lasts needs of sessions that are about to be deleted: its peak until then, and who it was.
    private static func keepOfOldSessions(before moment: Int64, in database: Database) throws {
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

    /// The settled peak of a broadcast, unless a higher one is stored.
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
        if let former = row.formerStart {
            try run(
                "UPDATE OR IGNORE session SET began = ? WHERE code = ? AND began = ?",
                with: [row.start, Int64(bitPattern: row.code), former],
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
                row.estimate.map { Int64(bitPattern: $0) }, row.isHeard, row.reason?.rawValue, row.isClosed,
                row.watchedUntil, row.poll, RenditionList.text(of: row.renditions), row.bytes, row.place,
                row.isLogged,
            ],
            in: database
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
                row.heard, row.unseen,
            ],
            in: database
        )
        guard row.ended != nil, let peak = try computedPeak(of: row.epoch, in: database) else { return }
        try store(peak, epoch: row.epoch, in: database)
    }

    /// Runs what comes with many batches, or many times with one: read by SQLite once, for reading it takes longer than doing it.
    private static func run(_ sql: String, with arguments: StatementArguments, in database: Database) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}
