import Foundation
import FootlightModel
import HTTPTypes
import Hummingbird
import NIOCore
public import Stage
public import Viewership

/// Routes for the viewership of rooms: live, and from the stored history.
struct ViewershipRoutes: FeatureRoutes {
    let rooms: RoomAccess
    let viewership: any ViewershipReporting
    /// The stored viewership; nil if none is stored.
    let history: (any AudienceHistory)?
    let totalsStream = TotalsStream()
    let access: EventStreamAccess

    func add(to api: APIRoutes) {
        for ending in ["", ".csv", ".jsonl"] {
            api.read("rooms/:room/viewership\(ending)") { call in
                let room = try rooms.room(call)
                try call.claims.requireViewership(of: room)
                let figures = ViewershipResource(viewership.report(room: room.name))
                return try ReportFormat(call.request).answer(
                    figures,
                    rows: [figures],
                    name: "\(room.name)-viewership",
                    withoutTimestamp: figures.withoutTimestamp,
                    to: call.request
                )
            }
            api.read("rooms/:room/viewership/timeseries\(ending)") { call in try await timeseries(call) }
            api.read("rooms/:room/viewership/summary\(ending)") { call in try await summary(call) }
            api.read("rooms/:room/viewership/sessions\(ending)") { call in try await sessions(call) }
            api.read("rooms/:room/viewership/retention\(ending)") { call in try await retention(call) }
            api.read("viewership/timeseries\(ending)") { call in try await totalTimeseries(call) }
            api.read("viewership/summary\(ending)") { call in try await totalSummary(call) }
            api.read("viewership\(ending)") { call in
                try call.claims.requireMonitoring()
                let totals = ViewershipTotalsResource(currentTotals())
                return try ReportFormat(call.request).answer(
                    totals,
                    // The last row has no room: it is the total.
                    rows: totals.rooms + [totals.total],
                    name: "viewership",
                    withoutTimestamp: totals.withoutTimestamp,
                    to: call.request
                )
            }
        }

        api.read("viewership/events") { call in
            try call.claims.requireMonitoring()
            if call.request.method == .head { return EventStream.head }
            let place = try access.acquireSlot(call)
            return try totalsStream.response(to: call.request, client: place, isRefused: access.isRefused(call)) {
                ViewershipTotalsResource(currentTotals())
            }
        }
    }

    /// Renders the event that reconnecting readers missed; to be called once a second.
    func recordTotals() {
        totalsStream.record { ViewershipTotalsResource(currentTotals()) }
    }

    /// Returns the viewership of all rooms in progress, including those without viewers.
    private func currentTotals() -> ViewershipTotals {
        var totals = viewership.totals()
        let watched = Set(totals.rooms.map(\.room))
        for room in rooms.directory.rooms(.inProgress) where !watched.contains(room.name) {
            totals.rooms.append(viewership.report(room: room.name))
        }
        return totals
    }

    // MARK: Reports from the stored history

    /// Maximum number of steps in a series.
    private static var maximumPoints: Int64 { 10_000 }
    /// Maximum number of points in a series.
    private static var maximumRows: Int { 100_000 }
    /// Maximum number of absences of the sessions on one page.
    private static var maximumGaps: Int { 500_000 }

    private func timeseries(_ call: APICall) async throws -> Response {
        let (name, history) = try await reported(call)
        let sid = try await recorded(call.path("room"), of: name, history)?.roomSID
        return try await series(call, of: name, sid: sid, history)
    }

    private func totalTimeseries(_ call: APICall) async throws -> Response {
        try call.claims.requireMonitoring()
        guard let history else { throw StageError.serverBusy(retryAfter: 5) }
        return try await series(call, of: nil, sid: nil, history)
    }

    /// - Parameters:
    ///   - room: The room's name; nil for all rooms together.
    ///   - sid: The sid of the one room of that name that is meant, if there is one.
    private func series(
        _ call: APICall,
        of room: String?,
        sid: String?,
        _ history: any AudienceHistory
    ) async throws -> Response {
        let step = try number(call, "step", usual: 60, in: 60...86_400)
        guard step % 60 == 0 else { throw StageError.invalidParameter("step", "must be whole minutes, in seconds") }
        let (from, to) = try period(call, usual: 3 * 3600)
        let minutes = Int64(step / 60)
        let first = Int64(from / 60) / minutes * minutes
        let last = Int64((to / 60).rounded(.up))
        guard (last - first) / minutes <= Self.maximumPoints else {
            throw StageError.invalidParameter("step", "makes more than \(Self.maximumPoints) steps of this time")
        }
        var grouping: ViewershipGrouping?
        if let text = call.query("group_by") {
            guard let known = ViewershipGrouping(rawValue: text) else {
                throw StageError.invalidParameter("group_by", "must be protocol, rendition, region or client")
            }
            grouping = known
        }
        let rows = try await read { [grouping] in
            try await history.minutes(
                room: room,
                sid: sid,
                from: first,
                to: last,
                step: minutes,
                grouping: grouping,
                limit: Self.maximumRows + 1
            )
        }
        guard rows.count <= Self.maximumRows else {
            throw StageError.invalidParameter("step", "makes more than \(Self.maximumRows) points of this time")
        }
        let points = ViewershipTimeline(rows, from: first, step: minutes, grouping: grouping).points
            .map { SeriesPointResource($0, step: step) }
        let series = ViewershipSeries(
            room: room ?? "",
            step: step,
            groupBy: grouping.map { .known($0) },
            points: points
        )
        let name = room.map { "\($0)-timeseries" } ?? "viewership-timeseries"
        return try ReportFormat(call.request).answer(series, rows: points, name: name, to: call.request)
    }

    private func summary(_ call: APICall) async throws -> Response {
        let (name, history) = try await reported(call)
        let broadcast = try await broadcast(call, of: name, history)
        let summary = try await read { try await history.summary(of: broadcast) }
        let format = try ReportFormat(call.request)
        return try format.answer(summary, rows: [summary], name: "\(name)-summary", to: call.request)
    }

    private func retention(_ call: APICall) async throws -> Response {
        let (name, history) = try await reported(call)
        let broadcast = try await broadcast(call, of: name, history)
        let step = try number(call, "step", usual: 60, in: 10...86_400)
        let end = broadcast.ended ?? Int64(Date().timeIntervalSince1970 * 1000)
        guard (end - broadcast.began) / (Int64(step) * 1000) <= Self.maximumPoints else {
            throw StageError.invalidParameter("step", "makes more than \(Self.maximumPoints) steps of this time")
        }
        let found = try await read {
            try await history.retention(of: broadcast, until: end, step: Int64(step) * 1000)
        }
        let retention = ViewershipRetention(
            room: name,
            beganAt: Timestamp(milliseconds: broadcast.began),
            endedAt: broadcast.ended.map { Timestamp(milliseconds: $0) },
            step: step,
            points: found?.points.map { RetentionPointResource($0) }
        )
        return try ReportFormat(call.request)
            .answer(retention, rows: retention.points ?? [], name: "\(name)-retention", to: call.request)
    }

    private func totalSummary(_ call: APICall) async throws -> Response {
        try call.claims.requireMonitoring()
        guard let history else { throw StageError.serverBusy(retryAfter: 5) }
        let (from, to) = try period(call, usual: 86_400)
        let (first, last) = (Int64(from / 60), Int64((to / 60).rounded(.up)))
        let figures = try await read {
            PeriodFigures(
                sums: try await history.sums(of: .period(first..<last)),
                groups: try await history.figures(of: .period(first..<last)),
                air: try await history.air(from: first, to: last)
            )
        }
        let summary = ViewershipPeriod(figures, from: first, to: last)
        return try ReportFormat(call.request)
            .answer(summary, rows: [summary], name: "viewership-summary", to: call.request)
    }

    /// Parses the period of a report in seconds since 1970.
    ///
    /// - Parameter usual: The default length in seconds if the beginning is missing.
    private func period(_ call: APICall, usual: Double) throws(StageError) -> (from: Double, to: Double) {
        let to = try time(call, "to") ?? Date().timeIntervalSince1970 + 60
        let from = try time(call, "from") ?? max(0, to - usual)
        guard from < to else { throw .invalidParameter("from", "must be before to") }
        return (from, to)
    }

    private func sessions(_ call: APICall) async throws -> Response {
        let (name, history) = try await reported(call)
        let broadcast = try await broadcast(call, of: name, history)
        let format = try ReportFormat(call.request)
        let size = try number(call, "page_size", usual: format == .json ? 50 : 10_000, in: 1...50_000)
        var after: (start: Int64, code: UInt64)?
        if let text = call.query("page_token"), !text.isEmpty {
            let parts = text.split(separator: "-")
            guard parts.count == 2, let start = Int64(parts[0], radix: 16), let code = UInt64(parts[1], radix: 16)
            else {
                throw StageError.invalidParameter("page_token", "must be the next_page_token of an earlier answer")
            }
            after = (start, code)
        }
        let rows = try await read { [after] in
            try await history.sessions(epoch: broadcast.epoch, after: after, limit: size)
        }
        let gaps = try await gaps(of: rows, epoch: broadcast.epoch, history)
        let next =
            rows.count < size
            ? nil : rows.last.map { "\(String($0.start, radix: 16))-\(String($0.code, radix: 16))" }
        let list = ViewerSessionList(
            sessions: rows.map { ViewerSessionResource($0, gaps: gaps[$0.code] ?? []) },
            meta: PageResource(pageSize: size, nextPageToken: next)
        )
        var response = try format.answer(list, rows: list.sessions, name: "\(name)-sessions", to: call.request)
        if format != .json, let next { response.headers[.nextPageToken] = next }
        return response
    }

    /// Returns the absences of the sessions on a page, by session code.
    private func gaps(
        of page: [SessionRow],
        epoch: Int64,
        _ history: any AudienceHistory
    ) async throws -> [UInt64: [GapRow]] {
        guard let first = page.first, let last = page.last else { return [:] }
        let gaps = try await read {
            try await history.gaps(epoch: epoch, from: first, through: last, limit: Self.maximumGaps + 1)
        }
        guard gaps.count <= Self.maximumGaps else {
            throw StageError.invalidParameter("page_size", "makes more than \(Self.maximumGaps) times away of a page")
        }
        return Dictionary(grouping: gaps, by: \.code)
    }

    /// Returns the room of a report, which the stage may have forgotten, and its history.
    private func reported(_ call: APICall) async throws -> (room: String, history: any AudienceHistory) {
        guard let history else { throw StageError.serverBusy(retryAfter: 5) }
        let name: String
        do throws(StageError) {
            let found = try rooms.room(call)
            try call.claims.requireViewership(of: found)
            name = found.name
        } catch {
            guard error == .roomNotFound, (try? call.claims.requireMonitoring()) != nil else { throw error }
            let known = try await read { try await history.broadcasts(room: call.path("room"), limit: 1) }
            guard let broadcast = known.first else { throw error }
            name = broadcast.room
        }
        return (name, history)
    }

    /// Returns the broadcast of a report: that of the sid which the path names, else the latest, or the one on air at
    /// `at`.
    private func broadcast(
        _ call: APICall,
        of room: String,
        _ history: any AudienceHistory
    ) async throws -> BroadcastRow {
        let wanted = try time(call, "at").map { Int64($0 * 1000) }
        if wanted == nil, let broadcast = try await recorded(call.path("room"), of: room, history) { return broadcast }
        let all = try await read { try await history.broadcasts(room: room, limit: wanted == nil ? 1 : 1000) }
        let found = wanted.map { wanted in all.first { $0.began <= wanted } } ?? all.first
        guard let found else { throw StageError.roomNotFound }
        return found
    }

    /// Returns the latest broadcast of the room with a sid; nil for a room's name, or if it has none.
    private func recorded(
        _ reference: String,
        of room: String,
        _ history: any AudienceHistory
    ) async throws -> BroadcastRow? {
        guard reference != room else { return nil }
        let known = try await read { try await history.broadcasts(room: reference, limit: 1) }
        return known.first { $0.roomSID == reference }
    }

    private func read<Outcome>(_ body: () async throws -> Outcome) async throws -> Outcome {
        do {
            return try await body()
        } catch {
            throw StageError.serverBusy(retryAfter: 5)
        }
    }

    private func time(_ call: APICall, _ name: String) throws(StageError) -> Double? {
        guard let text = call.query(name) else { return nil }
        guard let seconds = Timestamp(text)?.seconds ?? Double(text), (0...1e11).contains(seconds) else {
            throw .invalidParameter(name, "must be a time in RFC 3339, or seconds since 1970")
        }
        return seconds
    }

    private func number(
        _ call: APICall,
        _ name: String,
        usual: Int,
        in range: ClosedRange<Int>
    ) throws(StageError) -> Int {
        guard let text = call.query(name) else { return usual }
        guard let number = Int(text), range.contains(number) else {
            throw .invalidParameter(name, "must be between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
    }
}

extension AudienceHistory {
    /// Returns the summary of a broadcast from its history.
    func summary(of broadcast: BroadcastRow) async throws -> ViewershipSummary {
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let figures = BroadcastFigures(
            broadcast: broadcast,
            sums: try await sums(of: .broadcast(broadcast.epoch)),
            groups: try await figures(of: .broadcast(broadcast.epoch)),
            now: now
        )
        return ViewershipSummary(figures)
    }

    /// Returns the figures that cannot be derived from minutes, with settled peaks where they exist.
    fileprivate func figures(of scope: ReportScope) async throws -> [ViewerGroup?: GroupFigures] {
        var groups = try await groups(of: scope)
        for (group, peak) in try await settledPeaks(of: scope) {
            groups[group, default: GroupFigures()].settledPeak = peak
        }
        return groups
    }
}

extension HTTPField.Name {
    /// The token of the next page of a table.
    fileprivate static let nextPageToken = Self("X-Next-Page-Token") ?? .cacheControl
}

/// Counts viewers, as the control API uses it.
public protocol ViewershipReporting: Sendable {
    /// Returns the figures of one room; zeros for a room without viewers.
    func report(room: String) -> RoomViewership
    /// Returns the figures of all rooms on air, and their sum, at one moment.
    func totals() -> ViewershipTotals
    /// Returns a session id for the players of a RECV_ONLY participant, so that both count as one viewer.
    ///
    /// - Parameter grant: What admits it to a private room; nil for a public one.
    func makeSession(room: String, identity: String, grant: PlaybackGrant?) -> String
    /// Records a player's report on its own playback.
    ///
    /// - Parameters:
    ///   - room: The room that it plays, if the report does not name it.
    ///   - player: The sender, from the request.
    /// - Returns: Whether the report names a valid session or a room on air.
    func receive(_ report: PlayerReport, room: String?, from player: PlayerRequest) -> Bool
}

extension ViewershipLedger: ViewershipReporting {}
