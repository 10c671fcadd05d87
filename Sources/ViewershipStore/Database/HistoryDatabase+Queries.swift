import Foundation
import GRDB
import SQLiteStore
import Stage
import Viewership

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
                sql: "SELECT * FROM broadcast WHERE room = ? ORDER BY epoch DESC LIMIT ?",
                arguments: [room, limit]
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
    func minutes(
        room: String?,
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
        let filter = room == nil ? "(protocol <> '' OR room = '')" : "room = :room"
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
                arguments: step + (room.map { ["room": $0, "limit": limit] } ?? ["limit": limit])
            ).map { try MinuteRow($0) }
            guard let grouping else { return rows }
            var peaks: [GroupPeak: Int] = [:]
            let peakRows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(index), name, max(most) AS most FROM group_peak
                    WHERE \(room == nil ? "epoch = 0" : "epoch IN (SELECT epoch FROM broadcast WHERE room = :room)")
                    AND minute >= :from AND minute < :to AND grouping = :grouping GROUP BY 1, 2
                    """,
                arguments: step + ["grouping": grouping.rawValue] + (room.map { ["room": $0] } ?? [:])
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
