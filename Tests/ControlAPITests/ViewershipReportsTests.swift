import Foundation
import FootlightModel
import NIOCore
import Stage
import Synchronization
import FootlightTesting
import TestSupport
import Testing
import Viewership

@testable import ControlAPI

@Suite("Viewership report routes", .enabled(if: TestRun.isFull))
struct ViewershipReportsTests {
    /// Ten minutes of a show with eight HLS viewers, two RTMP viewers and three playbacks.
    private static func fill(_ history: StubHistory) {
        history.rows.withLock { rows in
            rows.broadcasts = [
                BroadcastRow(
                    epoch: 600_000,
                    room: "show",
                    began: 600_000,
                    ended: 1_200_000,
                    onAir: 600_000,
                    peak: 12,
                    peakAt: 660_000,
                    uniques: UniqueViewers(users: 1, devices: 9, estimated: 8),
                    reportingSessions: 4
                )
            ]
            let groups: [(Dimensions, Int)] = [
                (Dimensions(playback: .hls, rendition: "=720p", region: "DE", client: .web), 8),
                (Dimensions(playback: .rtmp, client: .tool), 2),
            ]
            var oneLeft = CloseReasonCounters.zero
            oneLeft[.left] = 1
            rows.minutes = (10..<20 as Range<Int64>).flatMap { minute in
                func key(_ dimensions: Dimensions?) -> MinuteRow.Key {
                    MinuteRow.Key(room: "show", epoch: 600_000, minute: minute, dimensions: dimensions)
                }
                return [MinuteRow(key: key(nil), aired: 60_000, minimum: 9, maximum: 11, last: 10)]
                    + groups.map { dimensions, viewers in
                        MinuteRow(
                            key: key(dimensions),
                            counts: AudienceCounts(
                                joins: 1,
                                leaves: oneLeft,
                                switches: viewers / 4,
                                watched: Int64(viewers) * 60_000,
                                stalled: Int64(viewers) * 60,
                                startup: dimensions.playback == .hls ? 250 : 0,
                                startups: dimensions.playback == .hls ? 1 : 0
                            ),
                            aired: Int64(viewers) * 60_000,
                            maximum: viewers + 1
                        )
                    }
            }
            rows.sessions = (1...3 as ClosedRange<UInt64>).map { code in
                SessionRow(
                    code: code,
                    shard: 0,
                    room: "show",
                    epoch: 600_000,
                    start: 600_000 + Int64(code) * 1000,
                    end: 900_000,
                    watched: 299_000,
                    dimensions: groups[0].0,
                    renditions: ["360p", "=720p"],
                    bytes: 93_750_000,
                    reason: .left,
                    isClosed: true
                )
            }
            rows.peaks = [
                nil: SettledPeak(viewers: 10, at: 700_000),
                ViewerGroup(.playback, "hls"): SettledPeak(viewers: 8, at: 700_000),
                ViewerGroup(.rendition, ""): SettledPeak(viewers: 2, at: 700_000),
            ]
            rows.groups = [
                nil: GroupFigures(uniques: UniqueViewers(users: 2, devices: 7, estimated: 6)),
                ViewerGroup(.playback, "hls"): GroupFigures(
                    peak: 9,
                    uniques: UniqueViewers(users: 1, devices: 3, estimated: 2)
                ),
                ViewerGroup(.rendition, "=720p"): GroupFigures(peak: 9),
            ]
        }
    }

    @Test("The summary of a broadcast contains the settled peak, averages, uniques, and every group")
    func summary() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            let path = "/v1/rooms/show/viewership/summary"
            let summary = try await server.ask("GET", path).decode(ViewershipSummary.self)
            #expect(summary.peakViewers == 10 && summary.livePeakViewers == 12 && summary.peakAt == Timestamp(700))
            #expect(summary.peakKind == "settled" && summary.peakNote == nil)
            #expect(summary.averageViewers == 10 && summary.averageMinuteAudience == 10 && summary.settled)
            #expect(summary.averageMinuteAudienceMinutes == 10)
            #expect(summary.joins == 20 && summary.leaves == 20 && summary.watchHours == 10.0 / 6)
            #expect(summary.uniques.devices == 9 && summary.averageStartupSeconds == 0.25)
            // Four of the ten who joined by HLS.
            #expect(summary.coverage == 0.4)
            #expect(summary.stalledSeconds == 6 && abs(summary.rebufferRatio - 6.0 / 6000) < 1e-9)
            #expect(summary.byProtocol["hls"]?.averageViewers == 8 && summary.byRegion["DE"]?.joins == 10)
            #expect(summary.byClient["tool"]?.watchTimeSeconds == 1200 && summary.byRendition[""]?.joins == 10)
            let hls = try #require(summary.byProtocol["hls"])
            #expect(hls.leaves == 10 && hls.switches == 20 && hls.livePeakViewers == 9)
            #expect(hls.peakViewers == 8 && hls.peakKind == "settled" && hls.peakNote == nil)
            // No viewer watched for less than a second.
            let plain = try #require(summary.byRendition[""])
            #expect(plain.peakViewers == 2 && plain.livePeakViewers == nil && plain.peakNote != nil)
            let named = try #require(summary.byRendition["=720p"])
            #expect(named.peakViewers == 9 && named.peakKind == "live" && named.peakNote == nil)
            #expect(hls.uniques == UniquesResource(users: 1, devices: 3, estimated: 2))
            #expect(hls.averageMinuteAudience == 8 && hls.averageStartupSeconds == 0.25)
            #expect(hls.stalledSeconds == 4.8 && abs(hls.rebufferRatio - 0.001) < 1e-9)
            let rtmp = try #require(summary.byProtocol["rtmp"])
            #expect(rtmp.uniques == nil && rtmp.averageStartupSeconds == nil && rtmp.stalledSeconds == 1.2)
        }
    }

    @Test("The summary as a table has a line for all viewers, then one for each group, with escaped formulas")
    func summaryTable() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            let path = "/v1/rooms/show/viewership/summary"
            let lines = try await server.ask("GET", path + ".csv").text.components(separatedBy: "\r\n").dropLast()
                .map { $0.components(separatedBy: ",") }
            #expect(lines.count == 10 && Set(lines.map(\.count)).count == 1)
            let rows = lines.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(lines[0], $0)) }
            #expect(rows.map { $0["group_by"] ?? "" }.filter(\.isEmpty).count == 1)
            #expect(
                rows.dropFirst().map { "\($0["group_by"] ?? ""):\($0["group"] ?? "")" } == [
                    "protocol:hls", "protocol:rtmp", "rendition:", "rendition:'=720p", "region:", "region:DE",
                    "client:tool", "client:web",
                ]
            )
            #expect(rows.allSatisfy { $0["room"] == "show" && $0["settled"] == "true" })
            #expect(rows[0]["joins"] == "20" && rows[0]["peak_viewers"] == "10" && rows[0]["live_peak_viewers"] == "12")
            #expect(rows[0]["unique_devices"] == "9" && rows[0]["coverage"] == "0.4")
            #expect(rows[0]["stalled_seconds"] == "6.0" && rows[1]["stalled_seconds"] == "4.8")
            #expect(rows[1]["joins"] == "10" && rows[1]["peak_viewers"] == "8" && rows[1]["live_peak_viewers"] == "9")
            #expect(rows[0]["peak_kind"] == "settled" && rows[2]["peak_viewers"] == "" && rows[2]["peak_kind"] == "")
            #expect(rows[1]["unique_devices"] == "3" && rows[1]["average_startup_seconds"] == "0.25")
            #expect(rows[2]["unique_devices"] == "" && rows[2]["average_startup_seconds"] == "")
            let json = try await server.ask("GET", path + ".jsonl").text.split(separator: "\n")
            #expect(json.count == 1)
        }
    }

    @Test("All rooms over a period: joins, watch time, averages and the peak, by protocol; as JSON, CSV and JSON Lines")
    func period() async throws {
        try await ControlServer.run { (server) async throws in
            Self.fill(server.history)
            server.history.rows.withLock { rows in
                rows.air.broadcasts = 1
                rows.air.duration = 600_000
                rows.air.peak = (11, 12)
                rows.peaks = [:]
            }
            let path = "/v1/viewership/summary"
            let time = "?from=1970-01-01T00:10:00Z&to=1199"
            let answer = try await server.ask("GET", path + time)
            let summary = try answer.decode(ViewershipPeriod.self)
            #expect(summary.from == Timestamp(600) && summary.to == Timestamp(1200) && summary.broadcasts == 1)
            #expect(summary.joins == 20 && summary.leaves == 20 && summary.watchHours == 10.0 / 6)
            #expect(summary.onAirSeconds == 600 && summary.averageWatchSeconds == 300)
            #expect(summary.averageViewers == 10 && summary.averageMinuteAudience == 10)
            #expect(summary.peakViewers == 11 && summary.peakAt == Timestamp(720) && summary.peakKind == "live")
            #expect(summary.livePeakViewers == 11 && summary.averageMinuteAudienceMinutes == 10)
            #expect(summary.byProtocol.keys.map(\.rawValue).sorted() == ["hls", "rtmp"])
            #expect(summary.byProtocol["hls"]?.averageViewers == 8 && summary.byProtocol["rtmp"]?.joins == 10)
            #expect(summary.uniques == UniquesResource(users: 2, devices: 7, estimated: 6))
            #expect(summary.averageStartupSeconds == 0.25 && summary.stalledSeconds == 6)
            #expect(abs(summary.rebufferRatio - 0.001) < 1e-9)
            #expect(summary.byProtocol["hls"]?.uniques?.devices == 3)
            #expect(summary.byRendition["=720p"]?.livePeakViewers == 9)
            #expect(summary.byRendition["=720p"]?.averageMinuteAudience == 8 && summary.byRegion["DE"]?.joins == 10)
            #expect(summary.byClient["tool"]?.averageViewers == 2)
            let table = try await server.ask("GET", path + ".csv" + time).text.components(separatedBy: "\r\n")
                .dropLast().map { $0.components(separatedBy: ",") }
            #expect(table.count == 10 && Set(table.map(\.count)).count == 1)
            #expect(table[0].starts(with: ["from", "to", "broadcasts", "on_air_seconds", "group_by", "group"]))
            let beginning = ["1970-01-01T00:10:00.000Z", "1970-01-01T00:20:00.000Z", "1", "600.0"]
            #expect(table[1].starts(with: beginning + ["", ""]) && table[5].starts(with: beginning))
            #expect(table[5][4...].starts(with: ["rendition", "'=720p", "9", "", "live", "9", "8.0", "8.0", "10"]))
            let lines = try await server.ask("GET", path + ".jsonl" + time).text.split(separator: "\n")
            #expect(lines.count == 1 && lines[0].contains("\"average_minute_audience\":10"))
            // Without an end the period extends to now; the latest day has no viewers.
            let day = try await server.ask("GET", path).decode(ViewershipPeriod.self)
            #expect(day.joins == 0 && day.to.seconds - day.from.seconds >= 86_400)
            #expect(try await server.ask("GET", path + "?from=9&to=9").refusal == "400/3073")
            #expect(try await server.ask("GET", path, as: .unauthenticated).refusal == "401/20101")
            let tag = try #require(answer.headers["etag"])
            #expect(try await server.ask("GET", path + time, headers: ["If-None-Match": tag]).status == 304)
            // The settled peak exceeds the live one.
            server.history.rows.withLock { $0.peaks = [nil: SettledPeak(viewers: 13, at: 725_000)] }
            let settled = try await server.ask("GET", path + time).decode(ViewershipPeriod.self)
            #expect(settled.peakViewers == 13 && settled.peakKind == "settled" && settled.livePeakViewers == 11)
            #expect(settled.peakAt == Timestamp(725) && settled.peakNote != nil)
        }
    }

    @Test("The live table has a row for each room and one for the total")
    func liveTable() async throws {
        try await ControlServer.run { (server) async throws in
            var room = RoomViewership(
                room: "a",
                concurrent: 3,
                asOf: Date().timeIntervalSince1970,
                byProtocol: [.rtmp: 3]
            )
            room.uniques = UniqueViewers(users: 1, devices: 2, estimated: 4)
            room.counts = AudienceCounts(switches: 7, stalled: 1250, startup: 3000, startups: 2)
            server.viewership.set(room)
            let table = try await server.ask("GET", "/v1/viewership.csv").text.components(separatedBy: "\r\n")
                .dropLast().map { $0.components(separatedBy: ",") }
            #expect(table.count == 3 && Set(table.map(\.count)).count == 1)
            let rows = table.dropFirst().map { Dictionary(uniqueKeysWithValues: zip(table[0], $0)) }
            #expect(rows.map { $0["room"] } == ["a", ""] && rows.map { $0["concurrent_viewers"] } == ["3", "3"])
            #expect(rows[0]["unique_users"] == "1" && rows[0]["unique_devices"] == "2")
            #expect(rows[0]["unique_estimated"] == "4" && rows[0]["uniques_approximate"] == "false")
            #expect(rows[0]["average_startup_seconds"] == "1.5" && rows[0]["stalled_seconds"] == "1.25")
            #expect(rows[0]["switches"] == "7" && rows[0]["recovering"] == "false")
            let lines = try await server.ask("GET", "/v1/viewership.jsonl").text.split(separator: "\n")
            #expect(lines.count == 2 && lines[1].contains("\"room\":\"\""))
        }
    }

    @Test("The series of a room that is named by its sid has the minutes of its own broadcasts alone")
    func ownSeries() async throws {
        try await ControlServer.run { (server) async throws in
            Self.fill(server.history)
            server.history.rows.withLock { rows in
                rows.broadcasts[0].roomSID = "RM1"
                rows.broadcasts.append(BroadcastRow(epoch: 700_000, room: "show", roomSID: "RM2", began: 1_200_000))
                let key = MinuteRow.Key(room: "show", epoch: 700_000, minute: 19, dimensions: nil)
                rows.minutes.append(MinuteRow(key: key, maximum: 99))
            }
            func most(_ room: String) async throws -> [Int?] {
                let path = "/v1/rooms/\(room)/viewership/timeseries?from=1140&to=1200"
                return try await server.ask("GET", path).decode(ViewershipSeries.self).points.map(\.peakViewers)
            }
            #expect(try await most("RM1") == [11])
            #expect(try await most("RM2") == [99])
            #expect(try await most("show") == [99])
            let summary = try await server.ask("GET", "/v1/rooms/show/viewership/summary")
                .decode(ViewershipSummary.self)
            #expect(summary.roomSID == "RM2")
        }
    }

    @Test("A time series, of all viewers or by group; as JSON, CSV and JSON Lines")
    func series() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            let path = "/v1/rooms/show/viewership/timeseries"
            let time = "?from=600&to=1970-01-01T00:20:00Z&step=300"
            let series = try await server.ask("GET", path + time).decode(ViewershipSeries.self)
            #expect(series.points.map(\.averageViewers) == [10, 10] && series.points.map(\.peakViewers) == [11, 11])
            #expect(series.points.map(\.at) == [Timestamp(600), Timestamp(900)] && series.groupBy == nil)
            let grouped = try await server.ask("GET", path + time + "&group_by=protocol").decode(ViewershipSeries.self)
            #expect(grouped.points.map(\.group) == ["hls", "rtmp", "hls", "rtmp"])
            #expect(grouped.points.map(\.averageViewers) == [8, 2, 8, 2])
            #expect(grouped.points.map(\.peakViewers) == [9, 3, 9, 3])
            #expect(grouped.points.map(\.stalledSeconds) == [2.4, 0.6, 2.4, 0.6])
            #expect(grouped.points.map(\.averageStartupSeconds) == [0.25, nil, 0.25, nil])
            #expect(series.points.map(\.stalledSeconds) == [3, 3])
            let byRendition = try await server.ask(
                "GET",
                path + time + "&group_by=rendition",
                headers: ["Accept": "text/csv"]
            )
            #expect(byRendition.headers["content-type"]?.hasPrefix("text/csv") ?? false)
            #expect(byRendition.headers["content-disposition"] == #"attachment; filename="show-timeseries.csv""#)
            let waits = "average_startup_seconds,stalled_seconds"
            let rows = byRendition.text.components(separatedBy: "\r\n")
            #expect(rows[0] == "at,group,average_viewers,peak_viewers,joins,leaves,watch_time_seconds,\(waits)")
            #expect(rows[2] == "1970-01-01T00:10:00.000Z,'=720p,8.0,9,5,5,2400.0,0.25,2.4")
            let lines = try await server.ask("GET", path + ".jsonl" + time).text.split(separator: "\n")
            #expect(lines.count == 2)
            for line in lines { _ = try WireJSON.decode(SeriesPointResource.self, from: Data(line.utf8)) }
            for query in ["?step=61", "?step=0", "?group_by=sid", "?from=x", "?from=9&to=8", "?format=xml", "?from=0"] {
                let refusal = try await server.ask("GET", path + query).refusal
                #expect(refusal == "400/3073", "\(query)")
            }
        }
    }

    @Test("A time series of all rooms; one with too many points is refused, not truncated")
    func totalSeries() async throws {
        try await ControlServer.run { (server) async throws in
            Self.fill(server.history)
            server.history.rows.withLock { rows in
                let second = rows.minutes.filter { $0.key.dimensions != nil }.map { row in
                    var row = row
                    row.key.room = "other"
                    row.key.epoch = 700_000
                    return row
                }
                let whole = MinuteRow.Key(room: "", epoch: 0, minute: 12, dimensions: nil)
                rows.minutes += second + [MinuteRow(key: whole, maximum: 21)]
            }
            let path = "/v1/viewership/timeseries"
            let time = "?from=600&to=1970-01-01T00:20:00Z&step=300"
            let series = try await server.ask("GET", path + time).decode(ViewershipSeries.self)
            #expect(series.room.isEmpty && series.points.map(\.averageViewers) == [20, 20])
            #expect(series.points.map(\.peakViewers) == [21, nil])
            let table = try await server.ask("GET", path + ".csv" + time + "&group_by=protocol")
            #expect(table.headers["content-disposition"] == #"attachment; filename="viewership-timeseries.csv""#)
            #expect(table.text.components(separatedBy: "\r\n").count == 6)
            #expect(try await server.ask("GET", path + time, as: .unauthenticated).refusal == "401/20101")
            server.history.rows.withLock { rows in
                let many = (0..<100_001 as Range<Int>).map { number in
                    let dimensions = Dimensions(playback: .hls, rendition: "\(number)")
                    return MinuteRow(key: .init(room: "show", epoch: 1, minute: 15, dimensions: dimensions))
                }
                rows.minutes = many
            }
            #expect(try await server.ask("GET", path + time).refusal == "400/3073")
        }
    }

    @Test("How long viewers stayed: as JSON, CSV and JSON Lines, for those who may see the viewership")
    func retention() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let path = "/v1/rooms/show/viewership/retention"
            #expect(try await server.ask("GET", path).refusal == "404/53106")
            Self.fill(server.history)
            let retention = try await server.ask("GET", path).decode(ViewershipRetention.self)
            #expect(retention.beganAt == Timestamp(600) && retention.endedAt == Timestamp(1200) && retention.step == 60)
            // All three watched for almost five of the ten minutes.
            let points = try #require(retention.points)
            #expect(points.map(\.afterSeconds) == Array(stride(from: 0, through: 600, by: 60)))
            #expect(points.map(\.joins) == Array(repeating: 3, count: 10) + [0])
            #expect(points.map(\.watching) == Array(repeating: 3, count: 5) + Array(repeating: 0, count: 6))
            #expect(points.map(\.share) == Array(repeating: 1, count: 5) + Array(repeating: 0, count: 6))
            let table = try await server.ask("GET", path + ".csv?step=120").text.components(separatedBy: "\r\n")
            #expect(table.prefix(2) == ["after_seconds,joins,watching,share", "0,3,3,1.0"] && table.count == 8)
            let lines = try await server.ask("GET", path + ".jsonl?step=300").text.split(separator: "\n")
            #expect(lines.count == 3)
            for step in ["9", "86401", "x"] {
                #expect(try await server.ask("GET", path + "?step=\(step)").refusal == "400/3073", "\(step)")
            }
            server.history.rows.withLock { $0.sessions = [] }
            #expect(try await server.ask("GET", path).decode(ViewershipRetention.self).points == nil)
            #expect(try await server.ask("GET", path, as: .unauthenticated).refusal == "401/20101")
        }
    }

    @Test("Playbacks are paged, without data that identifies a viewer")
    func sessions() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            let path = "/v1/rooms/show/viewership/sessions"
            let first = try await server.ask("GET", path + "?page_size=2").decode(ViewerSessionList.self)
            #expect(first.sessions.map(\.id) == ["1", "2"] && first.sessions[0].endReason == "left")
            #expect(first.sessions[0].renditions == ["360p", "=720p"] && first.sessions[0].bytes == 93_750_000)
            let token = try #require(first.meta.nextPageToken)
            let second = try await server.ask("GET", path + "?page_size=2&page_token=" + token)
                .decode(ViewerSessionList.self)
            #expect(second.sessions.map(\.id) == ["3"] && second.meta.nextPageToken == nil)
            let lines = try await server.ask("GET", path + ".jsonl").text.split(separator: "\n")
            #expect(lines.count == 3)
            let line = try WireJSON.decode(ViewerSessionResource.self, from: Data(lines[2].utf8))
            #expect(line.renditions == ["360p", "=720p"] && line.bytes == 93_750_000)
            let table = try await server.ask("GET", path + ".csv").text.components(separatedBy: "\r\n")
            #expect(table[0].contains(",rendition,renditions,region,client,switches,bytes,end_reason"))
            #expect(table[1].hasSuffix(",hls,'=720p,360p =720p,DE,web,0,93750000,left"))
            #expect(try await server.ask("GET", path + "?page_token=x").refusal == "400/3073")
        }
    }

    @Test("A playback's absences are in its row: in JSON, in JSON Lines, and in one bounded CSV cell")
    func away() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            server.history.rows.withLock { rows in
                func gap(_ code: UInt64, _ from: Int64, _ to: Int64) -> GapRow {
                    GapRow(code: code, epoch: 600_000, from: from, to: to)
                }
                // The third player returned too late to be the same playback, and was away in both.
                var again = rows.sessions[2]
                (again.start, again.end) = (1_000_000, 1_100_000)
                rows.sessions.append(again)
                rows.gaps = [gap(1, 700_000, 701_500), gap(3, 800_000, 800_250), gap(3, 1_050_000, 1_051_000)]
                rows.gaps += (0..<40).map { gap(2, 700_000 + $0 * 2000, 701_000 + $0 * 2000) }
            }
            let path = "/v1/rooms/show/viewership/sessions"
            let list = try await server.ask("GET", path).decode(ViewerSessionList.self).sessions
            func seconds(_ session: ViewerSessionResource) -> [[Double]] {
                session.away.map { [$0.from.seconds, $0.to.seconds] }
            }
            #expect(list.map(\.away.count) == [1, 40, 1, 1])
            #expect(seconds(list[0]) == [[700, 701.5]])
            #expect(seconds(list[2]) == [[800, 800.25]] && seconds(list[3]) == [[1050, 1051]])
            let lines = try await server.ask("GET", path + ".jsonl").text.split(separator: "\n")
            #expect(try WireJSON.decode(ViewerSessionResource.self, from: Data(lines[1].utf8)) == list[1])
            #expect(lines[0].contains(#""away":[{"from":"1970-01-01T00:11:40.000Z","to":"1970-01-01T00:11:41.500Z"}]"#))
            let table = try await server.ask("GET", path + ".csv").text.components(separatedBy: "\r\n")
                .map { $0.components(separatedBy: ",") }
            #expect(table[0][3] == "away")
            #expect(table[1][3] == "1970-01-01T00:11:40.000Z/1970-01-01T00:11:41.500Z")
            let many = table[2][3].split(separator: " ")
            #expect(many.count == 33 && many.last == "+8")
        }
    }

    @Test("A room without broadcasts, an unavailable history, and unauthorized bearers are refused")
    func refusals() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let path = "/v1/rooms/show/viewership/summary"
            #expect(try await server.ask("GET", path).refusal == "404/53106")
            #expect(try await server.ask("GET", "/v1/rooms/none/viewership/summary").refusal == "404/53106")
            #expect(try await server.ask("GET", path, as: .unauthenticated).refusal == "401/20101")
            Self.fill(server.history)
            // A room that the stage has forgotten.
            server.history.rows.withLock { $0.broadcasts[0].room = "gone" }
            #expect(try await server.ask("GET", "/v1/rooms/gone/viewership/summary").status == 200)
            server.history.rows.withLock { $0.isUnavailable = true }
            #expect(try await server.ask("GET", path).refusal == "503/53006")
        }
    }

    @Test("Players report CMCD lines without a token; invalid lines are accepted and ignored")
    func beacons() async throws {
        try await ControlServer.run { (server) async throws in
            let body = "e=ps,sta=p,sid=\"a\",cid=\"show\",bsd=120\n\nsta=e,sid=\"b\"\n"
            let answer = try await server.ask("POST", "/v1/cmcd?room=show", body, as: .unauthenticated)
            #expect(answer.status == 204)
            let reports = server.viewership.reports.withLock { $0 }
            #expect(reports.map(\.report.sid) == ["a", "b"] && reports.map(\.room) == ["show", "show"])
            // Set by the connection's handler, which this server does not have.
            #expect(reports.allSatisfy { $0.player.address == nil })
            #expect(reports[0].report.stalled == 120 && reports[1].report.isEnd)
            #expect(try await server.ask("POST", "/v1/cmcd", String(repeating: "x", count: 20_000)).status == 413)
        }
    }

    @Test(
        "An unchanged report is answered with 304 in all formats; a changed one is not",
        arguments: [
            "summary", "summary.csv", "sessions", "timeseries.jsonl?from=600&to=1200",
        ]
    )
    func unchanged(report: String) async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            Self.fill(server.history)
            let path = "/v1/rooms/show/viewership/" + report
            let first = try await server.ask("GET", path)
            let tag = try #require(first.headers["etag"])
            #expect(first.status == 200 && !first.data.isEmpty && tag.hasPrefix("\""))
            #expect(first.headers["cache-control"] == "private, no-cache")
            for held in [tag, "\"other\", W/\(tag)", "*"] {
                let again = try await server.ask("GET", path, headers: ["If-None-Match": held])
                #expect(again.status == 304 && again.data.isEmpty && again.headers["etag"] == tag, "\(held)")
            }
            server.history.rows.withLock { rows in
                rows.broadcasts[0].peak = 13
                rows.sessions[0].watched = 1
                rows.minutes[0].maximum = 12
            }
            let changed = try await server.ask("GET", path, headers: ["If-None-Match": tag])
            #expect(changed.status == 200 && changed.headers["etag"] != tag)
        }
    }

    @Test("Live figures change with a figure, not with time")
    func unchangedLive() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            func set(_ concurrent: Int, at seconds: Double) {
                server.viewership.set(
                    RoomViewership(
                        room: "show",
                        concurrent: concurrent,
                        asOf: seconds,
                        staleMs: Int(seconds)
                    )
                )
            }
            for path in ["/v1/rooms/show/viewership", "/v1/viewership", "/v1/viewership.csv"] {
                set(3, at: 100)
                let first = try await server.ask("GET", path)
                let tag = try #require(first.headers["etag"])
                #expect(tag.hasPrefix("W/") && first.headers["cache-control"] == "no-store")
                set(3, at: 200)
                let later = try await server.ask("GET", path, headers: ["If-None-Match": tag])
                #expect(later.status == 304, "\(path)")
                set(4, at: 300)
                let changed = try await server.ask("GET", path, headers: ["If-None-Match": tag])
                #expect(changed.status == 200 && changed.headers["etag"] != tag, "\(path)")
            }
        }
    }

    @Test("Metrics are returned in the accepted format")
    func metrics() async throws {
        try await ControlServer.run { (server) async throws in
            let plain = try await server.ask("GET", "/metrics", as: .unauthenticated, admin: true)
            #expect(plain.headers["content-type"]?.hasPrefix("text/plain; version=0.0.4") ?? false)
            let open = try await server.ask(
                "GET",
                "/metrics",
                as: .unauthenticated,
                headers: ["Accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"],
                admin: true
            )
            #expect(open.headers["content-type"]?.hasPrefix("application/openmetrics-text; version=1.0.0") ?? false)
            #expect(open.text.hasSuffix("# EOF\n"))
        }
    }
}

@Suite("CSV tables")
struct CSVTextTests {
    @Test("RFC 4180: quotes, commas and line ends are quoted, and formulas are escaped")
    func table() {
        var table = CSVText(header: ["a", "b"])
        table.add([.text("x,y"), .text("say \"hi\"")])
        table.add([.text("=1+1"), .text("@cmd")])
        table.add([.text("-2"), .number(-2.5)])
        table.add([.text("line\nend"), .nothing])
        table.add([.text("+\u{301}1"), .count(3)])
        #expect(
            table.text
                == "a,b\r\n\"x,y\",\"say \"\"hi\"\"\"\r\n'=1+1,'@cmd\r\n'-2,-2.5\r\n\"line\nend\",\r\n'+\u{301}1,3\r\n"
        )
    }
}

@Suite("Viewership routes")
struct ViewershipRoutesTests {
    @Test("V11 the audience of a room is its signalled viewers and the players that belong to none of them")
    func audience() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            _ = try await server.join("show", "ann")
            _ = try await server.join("show", "eve", "RECV_ONLY")
            server.viewership.set(
                RoomViewership(room: "show", concurrent: 42, anonymous: 41, asOf: 0)
            )
            let room = try await server.ask("GET", "/v1/rooms/show").decode(RoomResource.self)
            #expect(
                room.counts == CountsResource(hosts: 1, audience: 42, anonymous: 41, signallingOnly: 0, participants: 2)
            )
        }
    }

    @Test("The viewership of a room names every protocol")
    func room() async throws {
        try await ControlServer.run { (server) async throws in
            try await server.makeRoom()
            let empty = try await server.ask("GET", "/v1/rooms/show/viewership").decode(ViewershipResource.self)
            #expect(empty.concurrentViewers == 0)
            #expect(empty.by.byProtocol == ["sdk": 0, "rtmp": 0, "flv": 0, "hls": 0, "llhls": 0])
            server.viewership.set(
                RoomViewership(
                    room: "show",
                    concurrent: 57,
                    devices: 55,
                    anonymous: 41,
                    peak: 80,
                    peakAt: 60,
                    counts: AudienceCounts(joins: 212, watched: 91_234_000),
                    asOf: 90,
                    staleMs: 40,
                    byProtocol: [.sdk: 16, .hls: 30, .llhls: 8, .rtmp: 2, .flv: 1]
                )
            )
            let figures = try await server.ask("GET", "/v1/rooms/show/viewership").decode(ViewershipResource.self)
            #expect(figures.concurrentViewers == 57 && figures.devices == 55 && figures.peakConcurrentViewers == 80)
            #expect(figures.peakAt == Timestamp(60) && figures.asOf == Timestamp(90) && figures.staleMs == 40)
            #expect(figures.joins == 212 && figures.watchTimeSeconds == 91234 && !figures.recovering)
            #expect(figures.by.byProtocol == ["sdk": 16, "hls": 30, "llhls": 8, "rtmp": 2, "flv": 1])
            #expect(try await server.ask("GET", "/v1/rooms/none/viewership").refusal == "404/53106")
        }
    }

    @Test("All rooms and their total are returned at once")
    func totals() async throws {
        try await ControlServer.run { (server) async throws in
            for (name, count) in [("a", 3), ("b", 4)] {
                server.viewership.set(
                    RoomViewership(
                        room: name,
                        concurrent: count,
                        asOf: Date().timeIntervalSince1970,
                        byProtocol: [.rtmp: count]
                    )
                )
            }
            let answer = try await server.ask("GET", "/v1/viewership").decode(ViewershipTotalsResource.self)
            #expect(answer.total.concurrentViewers == 7)
            #expect(answer.total.by.byProtocol["rtmp"] == 7)
            #expect(answer.rooms.map(\.room) == ["a", "b"])
            #expect(answer.rooms.map(\.concurrentViewers) == [3, 4])
        }
    }
}
