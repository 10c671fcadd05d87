import Synchronization
import Viewership

/// A history that holds what a test puts there.
final class FixedHistory: AudienceHistory {
    struct Rows: Sendable {
        var broadcasts: [BroadcastRow] = []
        var minutes: [MinuteRow] = []
        var sessions: [SessionRow] = []
        var gaps: [GapRow] = []
        var groups: [ViewerGroup?: GroupFigures] = [:]
        var peaks: [ViewerGroup?: SettledPeak] = [:]
        var air = PeriodFigures.Air()
        var isOutOfReach = false
    }

    private struct OutOfReach: Error {}

    let rows = Mutex(Rows())

    func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow] {
        let rows = rows.withLock { $0 }
        if rows.isOutOfReach { throw OutOfReach() }
        return Array(rows.broadcasts.filter { $0.room == room }.sorted { $0.epoch > $1.epoch }.prefix(limit))
    }

    func minutes(
        room: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipTimeline.Grouping?,
        limit: Int
    ) async throws -> [MinuteRow] {
        let rows = rows.withLock { $0 }
        if rows.isOutOfReach { throw OutOfReach() }
        let wanted = rows.minutes.filter { row in
            let isWanted = room.map { $0 == row.key.room } ?? (row.key.dimensions != nil || row.key.room.isEmpty)
            return isWanted && (from..<to).contains(row.key.minute)
        }
        return Array(wanted.prefix(limit))
    }

    func air(from: Int64, to: Int64) async throws -> PeriodFigures.Air {
        rows.withLock { $0.air }
    }

    func sums(of scope: ReportScope) async throws -> [MinuteRow] {
        rows.withLock { rows in
            rows.minutes.filter { row in
                guard row.key.dimensions != nil else { return false }
                return switch scope {
                case .broadcast(let epoch): row.key.epoch == epoch
                case .period(let minutes): minutes.contains(row.key.minute)
                }
            }
        }
    }

    func groups(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures] {
        rows.withLock { $0.groups }
    }

    func sessions(
        epoch: Int64,
        after: (start: Int64, code: UInt64)?,
        limit: Int
    ) async throws -> [SessionRow] {
        let all = rows.withLock { $0.sessions.filter { $0.epoch == epoch } }
            .sorted { ($0.start, $0.code) < ($1.start, $1.code) }
        return Array(
            all.drop { row in after.map { (row.start, row.code) <= ($0.start, $0.code) } ?? false }.prefix(limit)
        )
    }

    func gaps(
        epoch: Int64,
        from first: SessionRow,
        through last: SessionRow,
        limit: Int
    ) async throws -> [GapRow] {
        rows.withLock { rows in
            let codes = rows.sessions.filter { row in
                row.epoch == epoch && (row.start, row.code) >= (first.start, first.code)
                    && (row.start, row.code) <= (last.start, last.code)
            }.map(\.code)
            return Array(rows.gaps.filter { $0.epoch == epoch && codes.contains($0.code) }.prefix(limit))
        }
    }

    func settledPeaks(of scope: ReportScope) async throws -> [ViewerGroup?: SettledPeak] {
        rows.withLock { $0.peaks }
    }
}
