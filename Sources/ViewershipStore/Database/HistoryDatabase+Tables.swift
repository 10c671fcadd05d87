import GRDB

extension HistoryDatabase {
    /// The tables, a step for every version there ever was.
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
            // Of what was written before nobody knows it by the minute: all of it is taken to have been.
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
            // Of whom the waits were that broadcasts have nobody knows any more: they go to where most was watched.
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
