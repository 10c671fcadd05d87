import ControlAPI
import Foundation
import Stage
import Synchronization
import Viewership

/// A viewership history with rows set by the test.
final class StubHistory: AudienceHistory {
    struct Rows: Sendable {
        var broadcasts: [BroadcastRow] = []
        var minutes: [MinuteRow] = []
        var sessions: [SessionRow] = []
        var gaps: [GapRow] = []
        var groups: [ViewerGroup?: GroupFigures] = [:]
        var peaks: [ViewerGroup?: SettledPeak] = [:]
        var air = PeriodFigures.Air()
        var isUnavailable = false
    }

    private struct HistoryUnavailable: Error {}

    let rows = Mutex(Rows())

    func broadcasts(room: String, limit: Int) async throws -> [BroadcastRow] {
        let rows = rows.withLock { $0 }
        if rows.isUnavailable { throw HistoryUnavailable() }
        let found = rows.broadcasts.filter { [$0.room, $0.roomSID].contains(room) }
        return Array(found.sorted { $0.epoch > $1.epoch }.prefix(limit))
    }

    func minutes(
        room: String?,
        sid: String?,
        from: Int64,
        to: Int64,
        step: Int64,
        grouping: ViewershipGrouping?,
        limit: Int
    ) async throws -> [MinuteRow] {
        let rows = rows.withLock { $0 }
        if rows.isUnavailable { throw HistoryUnavailable() }
        let wanted = rows.minutes.filter { row in
            let isWanted = room.map { $0 == row.key.room } ?? (row.key.dimensions != nil || row.key.room.isEmpty)
            let isOwn = sid == nil || rows.broadcasts.contains { $0.roomSID == sid && $0.epoch == row.key.epoch }
            return isWanted && isOwn && (from..<to).contains(row.key.minute)
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

    func retention(of broadcast: BroadcastRow, until end: Int64, step: Int64) async throws -> AudienceRetention? {
        let sessions = rows.withLock { $0.sessions.filter { $0.epoch == broadcast.epoch } }
        guard !sessions.isEmpty else { return nil }
        var retention = AudienceRetention(began: broadcast.began, end: end, step: step)
        for row in sessions { retention.add(from: row.start, to: row.end, because: row.reason) }
        return retention
    }
}

/// Returns reports set by the test.
final class StubViewership: ViewershipReporting {
    private let rooms = Mutex<[String: RoomViewership]>([:])

    func set(_ report: RoomViewership) {
        rooms.withLock { $0[report.room] = report }
    }

    private let queries = Atomic(0)

    /// The number of calls of `report`.
    var queryCount: Int { queries.load(ordering: .relaxed) }

    func report(room: String) -> RoomViewership {
        queries.add(1, ordering: .relaxed)
        return rooms.withLock { $0[room] } ?? RoomViewership(room: room, asOf: 0)
    }

    func makeSession(room: String, identity: String, grant: PlaybackGrant?) -> String {
        "sid-\(room)-\(identity)"
    }

    let reports = Mutex<[(report: PlayerReport, room: String?, player: PlayerRequest)]>([])

    func receive(_ report: PlayerReport, room: String?, from player: PlayerRequest) -> Bool {
        reports.withLock { $0.append((report, room, player)) }
        return true
    }

    func totals() -> ViewershipTotals {
        let all = rooms.withLock { $0.values.sorted { $0.room < $1.room } }
        var total = RoomViewership(room: "", asOf: 0)
        for room in all {
            total.concurrent += room.concurrent
            total.byProtocol.merge(room.byProtocol, uniquingKeysWith: +)
        }
        return ViewershipTotals(rooms: all, total: total)
    }
}
