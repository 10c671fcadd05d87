/// The tables of all stores, in the schema `footlight` of a database, with one migration per version.
public enum PostgresSchema {
    /// Creates the tables, or migrates those of an earlier version; several nodes may do so at the same time.
    ///
    /// - Throws: `PostgresFault`: `invalid` if the tables are of a later version.
    public static func prepare(_ link: PostgresLink) async throws(PostgresFault) {
        _ = try await link.execute(PostgresStatement(script(to: migrations.count)))
        let rows = try await link.execute(PostgresStatement("SELECT number FROM footlight.version"))
        guard let number = rows.first?.first.flatMap({ $0.flatMap { Int($0) } }), number == migrations.count else {
            throw .invalid("the tables of the database are of another version of Footlight")
        }
    }

    /// Returns the statements that bring a database to a version, as one transaction.
    static func script(to version: Int) -> String {
        // A change of a table waits for the statements of other nodes, and theirs for it: not for long.
        let begin = """
            SELECT set_config('lock_timeout', '2s', true);
            SELECT pg_advisory_xact_lock(7061676553);
            CREATE SCHEMA IF NOT EXISTS footlight;
            CREATE TABLE IF NOT EXISTS footlight.version (number int NOT NULL);
            INSERT INTO footlight.version SELECT 0 WHERE NOT EXISTS (SELECT FROM footlight.version);
            """
        let steps = migrations.prefix(version).enumerated().map { index, migration in
            """
            DO $migration$ BEGIN IF (SELECT number FROM footlight.version) = \(index) THEN
            \(migration)
            UPDATE footlight.version SET number = \(index + 1);
            END IF; END $migration$;
            """
        }
        return ([begin] + steps).joined(separator: "\n")
    }

    /// The migrations; one that was released is never changed.
    static let migrations = [cluster, records, webhooks, nodes]

    /// Rows of nodes are overwritten all the time: free space in each page keeps the new version of a row beside the old.
    private static let cluster = """
        CREATE TABLE footlight.node (
            id text PRIMARY KEY,
            incarnation bigint NOT NULL,
            count bigint NOT NULL,
            fenced boolean NOT NULL DEFAULT false,
            address text NOT NULL,
            load double precision NOT NULL,
            accepts_rooms boolean NOT NULL
        ) WITH (fillfactor = 50);
        CREATE TABLE footlight.room (
            sid text PRIMARY KEY,
            owner text,
            incarnation bigint,
            fence bigint NOT NULL
        ) WITH (fillfactor = 70);
        """

    /// A room's record stands in the row that says who owns the room, so that one condition covers both.
    ///
    /// A show is owned by a row of the same table, whose sid is the show's id.
    ///
    /// Records are text, since `jsonb` refuses a null character, which a participant's metadata may contain. The writer's
    /// fence and the number of its write order the writes: an earlier one can arrive after a later one, when a server
    /// that was stopped goes on with two connections. The names of rooms in progress are compared at the end of a
    /// statement, which may both end a room and write the next one of the same name.
    private static let records = """
        ALTER TABLE footlight.room
            ADD COLUMN name text,
            ADD COLUMN status text,
            ADD COLUMN updated_at double precision,
            ADD COLUMN ended_at double precision,
            ADD COLUMN record text,
            ADD COLUMN written_fence bigint NOT NULL DEFAULT 0,
            ADD COLUMN written_number bigint NOT NULL DEFAULT 0,
            ADD CONSTRAINT room_name EXCLUDE (name WITH =) WHERE (ended_at IS NULL) DEFERRABLE;
        CREATE INDEX room_by_end ON footlight.room (ended_at) WHERE ended_at IS NOT NULL;
        CREATE TABLE footlight.show (
            id text PRIMARY KEY,
            document bytea NOT NULL,
            written_fence bigint NOT NULL,
            written_number bigint NOT NULL
        );
        """

    /// The tables of SQLite, with sealed secrets, and the node that sends to each endpoint at present.
    ///
    /// Appending locks the only row of the sequence, so that messages become visible in the order of their numbers.
    private static let webhooks = """
        CREATE TABLE footlight.webhook_endpoint (
            id text PRIMARY KEY, url text NOT NULL, text text NOT NULL, room text, show text, types text NOT NULL,
            secret bytea NOT NULL, former_secret bytea, former_until double precision, disabled text,
            created_at double precision NOT NULL, updated_at double precision NOT NULL, failures bigint NOT NULL,
            failing_since double precision, failed_at double precision, next_try double precision,
            is_asked boolean NOT NULL, dropped bigint NOT NULL, sender text, sender_until timestamptz
        );
        CREATE TABLE footlight.webhook_message (
            seq bigint PRIMARY KEY, id text UNIQUE NOT NULL, type text NOT NULL, room text NOT NULL,
            at double precision NOT NULL, body bytea NOT NULL
        );
        CREATE TABLE footlight.webhook_delivery (
            endpoint text NOT NULL REFERENCES footlight.webhook_endpoint (id) ON DELETE CASCADE,
            seq bigint NOT NULL REFERENCES footlight.webhook_message (seq) ON DELETE CASCADE,
            state text NOT NULL, tries bigint NOT NULL, settled_at double precision,
            PRIMARY KEY (endpoint, seq)
        );
        CREATE INDEX webhook_delivery_pending ON footlight.webhook_delivery (endpoint, seq) WHERE state = 'pending';
        CREATE INDEX webhook_delivery_by_message ON footlight.webhook_delivery (seq);
        CREATE INDEX webhook_delivery_by_end ON footlight.webhook_delivery (settled_at) WHERE settled_at IS NOT NULL;
        CREATE TABLE footlight.webhook_attempt (
            endpoint text NOT NULL, seq bigint NOT NULL, number bigint NOT NULL, at double precision NOT NULL,
            duration double precision NOT NULL, outcome text NOT NULL, status bigint, retry_after double precision,
            PRIMARY KEY (endpoint, seq, number),
            FOREIGN KEY (endpoint, seq) REFERENCES footlight.webhook_delivery (endpoint, seq) ON DELETE CASCADE
        );
        CREATE TABLE footlight.webhook_mark (name text PRIMARY KEY, value bigint NOT NULL);
        CREATE TABLE footlight.webhook_sequence (number bigint NOT NULL);
        INSERT INTO footlight.webhook_sequence VALUES (0);
        """

    /// The version that each node runs, and when a room was released.
    private static let nodes = """
        ALTER TABLE footlight.node ADD COLUMN version text NOT NULL DEFAULT '';
        ALTER TABLE footlight.room ADD COLUMN released_at timestamptz;
        """
}
