import GRDB
import SQLiteStore
import Stage
import Viewership

extension HistoryDatabase {
    /// What an earlier run left open.
    func load() throws(StoreFault) -> RecoveredAudience {
        try store.read { database in
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
                    epoch: try row.decode(forColumn: "epoch"),
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
            ).map { (try $0.decode(forColumn: "most"), try $0.decode(Int64.self, forColumn: "minute") * 60_000) }
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

    func minutes(
        room: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipTimeline.Grouping?,
        limit: Int
    ) throws(StoreFault) -> [MinuteRow] {
        func column(_ name: ViewershipTimeline.Grouping, or other: String) -> String {
            grouping == name ? name.rawValue : other
        }
        // Of all rooms the whole is in rows of its own, for their peaks were not at one time.
        let wanted = room == nil ? "(protocol <> '' OR room = '')" : "room = :room"
        var values: StatementArguments = ["from": from, "to": to, "step": step, "limit": limit]
        if let room { values += ["room": room] }
        return try store.read { [arguments = values] database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT '' AS room, 0 AS epoch, :from + (minute - :from) / :step * :step AS minute,
                    CASE protocol WHEN '' THEN '' ELSE \(column(.playback, or: "'hls'")) END AS protocol,
                    \(column(.rendition, or: "''")) AS rendition, \(column(.region, or: "''")) AS region,
                    \(column(.client, or: "''")) AS client, \(Self.sums)
                    FROM minute WHERE \(wanted) AND minute >= :from AND minute < :to
                    GROUP BY 3, 4, 5, 6, 7 ORDER BY 3, 4, 5, 6, 7 LIMIT :limit
                    """,
                arguments: arguments
            ).map { try MinuteRow($0) }
        }
    }

    /// When any program was on the air: of each minute the longest of its broadcasts counts.
    func air(from: Int64, to: Int64) throws(StoreFault) -> PeriodFigures.Air {
        let period: StatementArguments = ["from": from, "to": to]
        return try store.read { database in
            var air = PeriodFigures.Air()
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT coalesce(sum(aired), 0) AS aired, coalesce(sum(aired >= 60000), 0) AS count,
                    coalesce(sum(CASE WHEN aired >= 60000 THEN watched ELSE 0 END), 0) AS watched FROM (
                        SELECT min(60000, max(CASE protocol WHEN '' THEN aired ELSE 0 END)) AS aired,
                        sum(CASE protocol WHEN '' THEN 0 ELSE watched END) AS watched
                        FROM minute WHERE minute >= :from AND minute < :to GROUP BY minute
                    )
                    """,
                arguments: period
            )
            if let row {
                air.duration = try row.decode(forColumn: "aired")
                air.wholeMinutes = (try row.decode(forColumn: "count"), try row.decode(forColumn: "watched"))
            }
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
            ).map { (try $0.decode(forColumn: "most"), try $0.decode(forColumn: "minute")) }
            return air
        }
    }

    /// How many minutes were on the air from beginning to end, and the milliseconds watched in them.
    func wholeMinutes(epoch: Int64) throws(StoreFault) -> (count: Int, watched: Int64) {
        try store.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT count(*) AS count, coalesce(sum(watched), 0) AS watched FROM (
                        SELECT sum(watched) AS watched FROM minute WHERE epoch = ? GROUP BY minute
                        HAVING sum(CASE protocol WHEN '' THEN aired ELSE 0 END) >= 60000
                    )
                    """,
                arguments: [epoch]
            )
            guard let row else { return (0, 0) }
            return (try row.decode(forColumn: "count"), try row.decode(forColumn: "watched"))
        }
    }

    func sums(epoch: Int64) throws(StoreFault) -> [MinuteRow] {
        try store.read { database in
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
                    (try row.decode(forColumn: "settled_peak"), try row.decode(forColumn: "settled_peak_at")),
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
        return try row.map { (try $0.decode(forColumn: "viewers"), try $0.decode(forColumn: "at")) }
    }

    private static let sums = """
        sum(watched) AS watched, sum(aired) AS aired, sum(joins) AS joins, sum(gone) AS gone, sum(timed_out) AS timed_out,
        sum(too_slow) AS too_slow, sum(room_ended) AS room_ended, sum(shutdown) AS shutdown, sum(switches) AS switches,
        min(least) AS least, max(most) AS most, 0 AS last
        """
    private static let sessionColumns =
        "SELECT session.*, broadcast.room AS room FROM session JOIN broadcast USING (epoch)"
}
