import FootlightTesting

/// One session as the gateway lists it when all is over.
struct OracleRow {
    /// By which way it came; nil where its player is not known.
    let kind: OracleLife.Kind?
    let watched: Double
    /// Times in RFC 3339.
    let start: String
    /// Nil while it lasts.
    let end: String?
    let away: [(from: String, to: String)]

    init(_ json: JSONValue) {
        kind = OracleLife.Kind(playback: json["protocol"].string, client: json["client"].string)
        watched = json["watch_time_seconds"].double ?? 0
        start = json["started_at"].string ?? ""
        end = json["ended_at"].string
        away = json["away"].elements.compactMap { absence in
            guard let from = absence["from"].string, let to = absence["to"].string else { return nil }
            return (from, to)
        }
    }

    /// The most at once, and when.
    static func peak(of rows: [OracleRow]) -> (viewers: Int, at: String) {
        var changes: [(at: String, by: Int)] = []
        for row in rows {
            changes.append((row.start, 1))
            if let end = row.end { changes.append((end, -1)) }
            for absence in row.away { changes += [(absence.from, -1), (absence.to, 1)] }
        }
        var (now, most, reached) = (0, 0, "")
        // Times in RFC 3339 sort as texts; who leaves in the same moment leaves first.
        for change in changes.sorted(by: { ($0.at, $0.by) < ($1.at, $1.by) }) {
            now += change.by
            if now > most { (most, reached) = (now, change.at) }
        }
        return (most, reached)
    }
}
