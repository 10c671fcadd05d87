import GRDB

extension OutboxDatabase {
    /// The tables, a step for every version there ever was.
    static var migrations: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 webhooks") { database in
            try database.execute(
                sql: """
                    CREATE TABLE endpoint (
                        id TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, text TEXT NOT NULL, room TEXT, types TEXT NOT NULL,
                        secret TEXT NOT NULL, former_secret TEXT, former_until REAL, disabled TEXT,
                        created_at REAL NOT NULL, updated_at REAL NOT NULL, failures INTEGER NOT NULL,
                        failing_since REAL, failed_at REAL, next_try REAL, is_asked INTEGER NOT NULL,
                        dropped INTEGER NOT NULL
                    );
                    CREATE TABLE message (
                        seq INTEGER PRIMARY KEY NOT NULL, id TEXT UNIQUE NOT NULL, type TEXT NOT NULL, room TEXT NOT NULL,
                        at REAL NOT NULL, body BLOB NOT NULL
                    );
                    CREATE TABLE delivery (
                        endpoint TEXT NOT NULL REFERENCES endpoint (id) ON DELETE CASCADE,
                        seq INTEGER NOT NULL REFERENCES message (seq) ON DELETE CASCADE,
                        state TEXT NOT NULL, tries INTEGER NOT NULL, settled_at REAL,
                        PRIMARY KEY (endpoint, seq)
                    ) WITHOUT ROWID;
                    CREATE INDEX delivery_pending ON delivery (endpoint, seq) WHERE state = 'pending';
                    CREATE INDEX delivery_by_message ON delivery (seq);
                    CREATE INDEX delivery_by_end ON delivery (settled_at) WHERE settled_at IS NOT NULL;
                    CREATE TABLE attempt (
                        endpoint TEXT NOT NULL, seq INTEGER NOT NULL, number INTEGER NOT NULL, at REAL NOT NULL,
                        duration REAL NOT NULL, outcome TEXT NOT NULL, status INTEGER, retry_after REAL,
                        PRIMARY KEY (endpoint, seq, number),
                        FOREIGN KEY (endpoint, seq) REFERENCES delivery (endpoint, seq) ON DELETE CASCADE
                    ) WITHOUT ROWID;
                    CREATE TABLE mark (name TEXT PRIMARY KEY NOT NULL, value INTEGER NOT NULL);
                    """
            )
        }
        return migrator
    }
}
