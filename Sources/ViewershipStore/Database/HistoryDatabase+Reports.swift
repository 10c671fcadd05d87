import GRDB
import SQLiteStore
import Stage
import Viewership

// What reports are made of.
extension HistoryDatabase {
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
        let step: StatementArguments = ["from": from, "to": to, "step": step]
        let place = ":from + (minute - :from) / :step * :step AS minute"
        return try store.read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT '' AS room, 0 AS epoch, \(place),
                    CASE protocol WHEN '' THEN '' ELSE \(column(.playback, or: "'hls'")) END AS protocol,
                    \(column(.rendition, or: "''")) AS rendition, \(column(.region, or: "''")) AS region,
                    \(column(.client, or: "''")) AS client, \(Self.sums)
                    FROM minute WHERE \(wanted) AND minute >= :from AND minute < :to
                    GROUP BY 3, 4, 5, 6, 7 ORDER BY 3, 4, 5, 6, 7 LIMIT :limit
                    """,
                arguments: step + (room.map { ["room": $0, "limit": limit] } ?? ["limit": limit])
            ).map { try MinuteRow($0) }
            guard let grouping else { return rows }
            var peaks: [GroupPeak: Int] = [:]
            let peakRows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(place), name, max(most) AS most FROM group_peak
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

    /// When any program was on the air: of each minute the longest of its broadcasts counts.
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

    /// No more is to come of it.
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

    /// What groups had at most at once, as they were counted live.
    func groups(of scope: ReportScope) throws(StoreFault) -> [ViewerGroup?: GroupFigures] {
        try store.read { database in
            var groups: [ViewerGroup?: GroupFigures] = [:]
            let peaks = try Row.fetchCursor(
                database,
                sql: "SELECT grouping, name, max(most) AS most FROM group_peak WHERE \(scope.peaks) GROUP BY 1, 2",
                arguments: scope.arguments
            )
            while let row = try peaks.next() {
                guard let grouping = ViewershipTimeline.Grouping(rawValue: try row.decode(forColumn: "grouping"))
                else { continue }
                let group = ViewerGroup(grouping, try row.decode(forColumn: "name"))
                groups[group, default: GroupFigures()].peak = try row.number("most")
            }
            return groups
        }
    }

    /// Distinct viewers, of everybody and of each group; nil where sessions of it may be deleted already.
    ///
    /// Exact to a hundred thousand, for there may be many groups, and an estimate beyond.
    ///
    /// - Parameter retention: for how long sessions are kept, milliseconds.
    func uniques(of scope: ReportScope, retention: Int64) throws(StoreFault) -> [ViewerGroup?: UniqueViewers]? {
        let limit = 100_000
        return try store.read { database in
            guard try Self.keepsSessions(of: scope, retention: retention, in: database) else { return nil }
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
                // Of the rest of the dimensions it is known where a session stood last, of these all.
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

    /// Whether no session of it can have been deleted.
    private static func keepsSessions(of scope: ReportScope, retention: Int64, in database: Database) throws -> Bool {
        try Bool.fetchOne(
            database,
            sql: "SELECT \(scope.beginning) >= (SELECT last_seen FROM run) - :retention",
            arguments: scope.arguments + ["retention": retention]
        ) ?? false
    }

    /// The settled peaks of everybody and of each group; nothing where a broadcast of it lasts, where there are too many
    /// sessions, or where some may be deleted already.
    ///
    /// - Parameter retention: For how long sessions are kept, milliseconds.
    func settledPeaks(of scope: ReportScope, retention: Int64) throws(StoreFault) -> [ViewerGroup?: SettledPeak] {
        try store.read { database in
            guard try Self.keepsSessions(of: scope, retention: retention, in: database),
                try Self.hasEnded(scope, in: database)
            else { return [:] }
            let count = try Int.fetchOne(
                database,
                sql: """
                    SELECT count(*) FROM (SELECT 1 FROM session WHERE \(scope.sessions) LIMIT \(Self.walkLimit + 1))
                    """,
                arguments: scope.arguments
            )
            guard (count ?? 0) <= Self.walkLimit else { return [:] }
            let sessions = "(epoch, code) IN (SELECT epoch, code FROM session WHERE \(scope.sessions))"
            func byCode<Line>(_ table: String, _ order: String, _ line: (Row) throws -> Line) throws -> [Walked: [Line]]
            {
                var lines: [Walked: [Line]] = [:]
                let rows = try Row.fetchCursor(
                    database,
                    sql: "SELECT * FROM \(table) WHERE \(sessions) ORDER BY \(order)",
                    arguments: scope.arguments
                )
                while let row = try rows.next() { lines[try Walked(row), default: []].append(try line(row)) }
                return lines
            }
            let gaps = try byCode("gap", "went") { try GapRow($0) }
            let moves = try byCode("move", "at") { try MoveRow($0) }
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
                let walked = try Walked(row)
                peaks.add(
                    from: try row.number("began"),
                    to: try row.number("ended"),
                    dimensions: dimensions,
                    gaps: gaps[walked] ?? [],
                    moves: moves[walked] ?? []
                )
            }
            return peaks.found()
        }
    }

    /// Sessions that are walked through at most.
    private static let walkLimit = 500_000

    /// Whose times away and moves are looked up.
    private struct Walked: Hashable {
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

    /// Which rows of `minute` belong to it.
    fileprivate var minutes: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "minute >= :from AND minute < :to AND epoch <> 0"
        }
    }

    /// Which rows of `group_peak` do.
    fileprivate var peaks: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "minute >= :from AND minute < :to AND epoch = 0"
        }
    }

    /// Which rows of `broadcast` do.
    fileprivate var broadcasts: String {
        switch self {
        case .broadcast: "epoch = :epoch"
        case .period: "began < :to * 60000 AND (ended IS NULL OR ended > :from * 60000)"
        }
    }

    /// From when to when it is; milliseconds since 1970.
    fileprivate var span: ClosedRange<Int64> {
        switch self {
        case .broadcast: .min ... .max
        case .period(let minutes): minutes.lowerBound * 60_000...minutes.upperBound * 60_000
        }
    }

    /// Which rows of `session` do: of a time those that watched in any of it.
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

    /// When it begins, milliseconds since 1970.
    fileprivate var beginning: String {
        switch self {
        case .broadcast: "(SELECT began FROM broadcast WHERE epoch = :epoch)"
        case .period: ":from * 60000"
        }
    }
}
