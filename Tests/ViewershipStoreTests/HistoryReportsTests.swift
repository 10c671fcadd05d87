import Foundation
import Media
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("Reports from the disk")
struct HistoryReportsTests {
    private static let first = Int64(1_800_000_000 / 60)

    /// Minutes of two rooms, each with viewers of three regions by two protocols, and what they were together.
    private func batch(minutes: Int64) -> HistoryBatch {
        var batch = HistoryBatch(asOf: (Self.first + minutes) * 60_000)
        for (number, room) in ["one", "two"].enumerated() {
            let epoch = Int64(number + 1)
            batch.broadcasts[epoch] = BroadcastRow(epoch: epoch, room: room, began: Self.first * 60_000)
            for minute in Self.first..<Self.first + minutes {
                func key(_ dimensions: Dimensions?) -> MinuteRow.Key {
                    MinuteRow.Key(room: room, epoch: epoch, minute: minute, dimensions: dimensions)
                }
                var rows = [MinuteRow(key: key(nil), aired: 60_000, minimum: 5, maximum: 6 + number, last: 6)]
                for region in ["", "DE", "US-CA"] {
                    for playback in [PlaybackProtocol.hls, .rtmp] {
                        let dimensions = Dimensions(playback: playback, region: region)
                        rows.append(MinuteRow(key: key(dimensions), watched: 60_000, aired: 60_000, joins: 1))
                    }
                }
                let whole = MinuteRow.Key(room: "", epoch: 0, minute: minute, dimensions: nil)
                rows.append(MinuteRow(key: whole, minimum: 10, maximum: 12, last: 12))
                for row in rows { batch.minutes[row.key] = row }
            }
        }
        return batch
    }

    @Test("a series is added up where it is kept, in steps and by group, of a room and of all; a limit is kept")
    func series() async throws {
        let stand = try HistoryStand()
        #expect(await stand.keeper.write(batch(minutes: 60)))
        let (from, to) = (Self.first, Self.first + 60)
        // Two rows a step, whatever there is below: no limit is near.
        let hours = try await stand.minutes(room: "one", from: from, to: to, step: 30, limit: 4)
        #expect(hours.count == 4 && Set(hours.map(\.key.minute)) == [from, from + 30])
        let points = ViewershipTimeline(hours, from: from, step: 30, grouping: nil).points
        #expect(points.map(\.watched) == [30 * 360_000, 30 * 360_000] && points.map(\.peak) == [6, 6])
        #expect(points.map(\.joins) == [180, 180])
        let regions = try await stand.minutes(room: "one", from: from, to: to, step: 60, by: .region)
        let byRegion = ViewershipTimeline(regions, from: from, step: 60, grouping: .region).points
        #expect(byRegion.map(\.group) == ["", "DE", "US-CA"])
        #expect(byRegion.map(\.watched) == [7_200_000, 7_200_000, 7_200_000])
        let ways = try await stand.minutes(room: "one", from: from, to: to, step: 60, by: .playback)
        let byProtocol = ViewershipTimeline(ways, from: from, step: 60, grouping: .playback).points
        #expect(byProtocol.map(\.group) == ["hls", "rtmp"] && byProtocol.map(\.watched) == [10_800_000, 10_800_000])
        // All rooms: the viewers of both, and the most there were of both together.
        let all = try await stand.minutes(room: nil, from: from, to: to, step: 60)
        let total = ViewershipTimeline(all, from: from, step: 60, grouping: nil).points
        #expect(total.map(\.watched) == [2 * 60 * 360_000] && total.map(\.peak) == [12] && total.map(\.joins) == [720])
        #expect(try await stand.minutes(room: nil, from: from, to: to, by: .region, limit: 7).count == 7)
    }

    @Test("a time of all rooms: what was on the air in any, the peak of all together, and what was watched in it")
    func period() async throws {
        let stand = try HistoryStand()
        var batch = batch(minutes: 20)
        // Both begin within the first minute, the second one later; in the last minute only one is on to the end.
        for (room, epoch, minute, aired) in [("one", 1, 0, 20_000), ("two", 2, 0, 30_000), ("one", 1, 19, 0)] {
            let minute = Self.first + Int64(minute)
            let key = MinuteRow.Key(room: room, epoch: Int64(epoch), minute: minute, dimensions: nil)
            batch.minutes[key]?.aired = Int64(aired)
        }
        batch.minutes[.init(room: "", epoch: 0, minute: Self.first + 7, dimensions: nil)]?.maximum = 13
        #expect(await stand.keeper.write(batch))
        func air(_ from: Int64, _ to: Int64) async throws -> PeriodFigures.Air {
            try await stand.keeper.air(from: Self.first + from, to: Self.first + to)
        }
        let all = try await air(-100, 100)
        #expect(all.broadcasts == 2 && all.duration == 30_000 + 19 * 60_000)
        #expect(all.peak?.viewers == 13 && all.peak?.minute == Self.first + 7)
        let part = try await air(10, 15)
        #expect(part.duration == 300_000 && part.peak?.viewers == 12)
        let none = try await air(100, 200)
        #expect(none.broadcasts == 0 && none.duration == 0 && none.peak == nil)
        let scope = ReportScope.period(Self.first + 10..<Self.first + 15)
        let groups = try await stand.keeper.groups(of: scope)
        let figures = PeriodFigures(sums: try await stand.keeper.sums(of: scope), groups: groups, air: part)
        #expect(figures.whole.joins == 60 && figures.whole.watched == 5 * 720_000)
        #expect(figures.average(of: figures.whole) == 12)
        let ways = figures.slices[.playback]
        #expect(ways.keys.sorted() == ["hls", "rtmp"] && ways["hls"]?.joins == 30)
        let germany = try #require(figures.slices[.region]["DE"])
        #expect(germany.joins == 20 && figures.average(of: germany) == 4)
        // Nobody's playback is in it.
        #expect(figures.whole.figures.uniques == UniqueViewers())
    }

    @Test("each group of a show has its peak, its waits, its average and its distinct viewers, and so has a time")
    func groups() async throws {
        let stand = try HistoryStand()
        stand.ledger.setOnAir("show", true)
        func join(
            _ identity: String?,
            _ playback: PlaybackProtocol,
            at seconds: Double,
            room: String = "show"
        ) -> String {
            let sid =
                identity.map { stand.ledger.makeSession(room: room, identity: $0) }
                ?? stand.ledger.makeSession(room: room)
            stand.record(sid, .opened, at: seconds, by: playback, room: room)
            stand.record(
                sid,
                .watched(since: stand.start.advanced(seconds: seconds)),
                at: seconds + 5,
                by: playback,
                room: room
            )
            return sid
        }
        // Ann by RTMP, twice, and by FLV; Ben by FLV, who waits; somebody unknown in another room.
        let first = join("ann", .rtmp, at: 1)
        let second = join("ann", .rtmp, at: 10)
        let third = join("ann", .flv, at: 20)
        let ben = join("ben", .flv, at: 30)
        _ = join(nil, .rtmp, at: 40, room: "other")
        stand.record(ben, .stalled(milliseconds: 1500), at: 50, by: .flv)
        for second in 51...200 {
            stand.advance(to: Double(second))
            #expect(await stand.write())
        }
        for sid in [first, second] { stand.record(sid, .closed(.left), at: 200, by: .rtmp) }
        stand.record(third, .closed(.left), at: 200, by: .flv)
        for second in 201...300 {
            stand.advance(to: Double(second))
            #expect(await stand.write())
        }
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        let scope = ReportScope.broadcast(broadcast.epoch)
        let groups = try await stand.keeper.groups(of: scope)
        let figures = BroadcastFigures(
            broadcast: broadcast,
            sums: try await stand.keeper.sums(of: scope),
            groups: groups,
            now: 0
        )
        let (rtmp, flv) = (figures.slices[.playback]["rtmp"], figures.slices[.playback]["flv"])
        #expect(rtmp?.figures.peak == 2 && flv?.figures.peak == 2)
        #expect(rtmp?.figures.uniques?.users == 1 && flv?.figures.uniques?.users == 2)
        #expect(rtmp?.stalled == 0 && flv?.stalled == 1500 && figures.whole.stalled == 1500)
        #expect(groups[nil]?.uniques?.users == 2 && broadcast.uniques.users == 2)
        #expect(groups[ViewerGroup(.rendition, "720p")]?.peak == 4)
        let audiences = [rtmp, flv].compactMap(\.self).map { figures.average(of: $0) }
        let whole = figures.average(of: figures.whole)
        #expect(audiences.count == 2 && abs(audiences.reduce(0, +) - whole) < 1e-9 && whole > 2)
        // A time holds both rooms; one of its groups is of both.
        let minutes = Self.first..<Self.first + 10
        let all = try await stand.keeper.groups(of: .period(minutes))
        #expect(all[ViewerGroup(.playback, "rtmp")]?.peak == 3 && all[nil]?.uniques?.users == 2)
        #expect(all[nil]?.uniques?.devices == 3 && all[ViewerGroup(.playback, "rtmp")]?.uniques?.devices == 2)
        #expect(try await stand.keeper.groups(of: .period(Self.first + 4..<Self.first + 10))[nil]?.uniques?.users == 1)
        // Peaks of groups over time.
        let series = try await stand.minutes(room: "show", from: Self.first, to: Self.first + 10, by: .playback)
        let points = ViewershipTimeline(series, from: Self.first, step: 1, grouping: .playback).points
        #expect(points.filter { $0.group == "rtmp" }.map(\.peak).contains(2))
        #expect(points.last { $0.group == "flv" }?.peak == 1 && points.map(\.stalled).reduce(0, +) == 1500)
    }

    @Test("who played several renditions is one of the viewers of each; a group that all have left has nobody")
    func movedOn() async throws {
        let stand = try HistoryStand()
        var batch = batch(minutes: 1)
        func add(_ code: UInt64, _ renditions: [String]) {
            batch.sessions[code] = SessionRow(
                code: code,
                shard: 0,
                room: "one",
                epoch: 1,
                start: Self.first * 60_000 + Int64(code),
                end: nil,
                watched: 1,
                dimensions: Dimensions(playback: .llhls, rendition: renditions.last ?? ""),
                renditions: renditions
            )
        }
        add(1, ["360p", "1080p"])
        add(2, ["360p", "", "1080p"])
        batch.peaks[GroupPeak(epoch: 1, minute: Self.first, group: ViewerGroup(.playback, "hls"))] = 2
        #expect(await stand.keeper.write(batch))
        let groups = try await stand.keeper.groups(of: .broadcast(1))
        func devices(_ grouping: ViewershipTimeline.Grouping, _ name: String) -> Int? {
            groups[ViewerGroup(grouping, name)]?.uniques?.devices
        }
        #expect(devices(.rendition, "360p") == 2 && devices(.rendition, "1080p") == 2 && devices(.rendition, "") == 1)
        #expect(devices(.playback, "llhls") == 2 && devices(.playback, "hls") == 0)
        #expect(groups[ViewerGroup(.playback, "llhls")]?.peak == nil && groups[nil]?.uniques?.devices == 2)
        #expect(try await stand.keeper.groups(of: .broadcast(9)).isEmpty)
    }

    @Test("distinct viewers of what is older than the sessions that are kept are not known, rather than too few")
    func forgotten() async throws {
        let stand = try HistoryStand()
        stand.watch(from: 1)
        stand.advance(to: 60)
        #expect(await stand.write())
        let month = Self.first..<Self.first + 40 * 1440
        #expect(try await stand.keeper.groups(of: .period(month))[nil]?.uniques?.devices == 1)
        stand.clock.move(to: stand.start.advanced(seconds: 31 * 86_400))
        stand.restart()
        #expect(await stand.write())
        #expect(try await stand.keeper.groups(of: .period(month))[nil]?.uniques == nil)
        let today = Self.first + 31 * 1440 - 60
        #expect(try await stand.keeper.groups(of: .period(today..<today + 120))[nil]?.uniques != nil)
    }

    @Test("G4 the ACV of a show on disk is that of its time on the air, and the peak over all rooms outlives a kill")
    func onAir() async throws {
        let stand = try HistoryStand()
        for number in 0..<30 { stand.ledger.participantWatching(room: "show", identity: "\(number)") }
        for second in 1...600 {
            if second == 305 { stand.ledger.setOnAir("show", true) }
            if second == 490 { stand.ledger.setOnAir("show", false) }
            stand.advance(to: Double(second))
            if second % 5 == 0 { #expect(await stand.write()) }
        }
        stand.ledger.roomBegan("other")
        stand.ledger.participantWatching(room: "other", identity: "x")
        #expect(await stand.write())
        #expect(stand.ledger.totals().total.uniques.users == 31)
        stand.restart()
        let total = stand.ledger.totals().total
        #expect(total.peak == 31 && total.concurrent == 0)
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.onAir == 185_000)
        let scope = ReportScope.broadcast(broadcast.epoch)
        let peaks = try await stand.keeper.settledPeaks(of: scope)
        let groups = peaks.mapValues { GroupFigures(settledPeak: $0) }
        let sums = try await stand.keeper.sums(of: scope)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, groups: groups, now: 0)
        #expect(peaks[nil]?.viewers == 30 && peaks[ViewerGroup(.playback, "sdk")]?.viewers == 30)
        // Each second's watching is booked every five; the parts of the minutes at both ends have their weight.
        #expect(abs(figures.average(of: figures.whole) - 30) < 0.01 && figures.average(of: figures.whole) <= 30)
        #expect(figures.duration == 185_000)
    }

    @Test("the settled peaks of a broadcast and of its groups follow each move and each time away")
    func settledGroups() async throws {
        let stand = try HistoryStand()
        func play(_ sid: String, _ kind: AudienceEvent.Kind, _ rendition: String, at seconds: Double) {
            stand.clock.move(to: stand.start.advanced(seconds: seconds))
            stand.ledger.record(
                AudienceEvent(
                    sid: sid,
                    room: stand.room,
                    playback: .rtmp,
                    rendition: rendition,
                    kind: kind,
                    at: stand.clock.now
                )
            )
        }
        // Three in 720p, of whom two go on in 360p while the third is away; a fourth has come to 360p before.
        let sids = (0..<4).map { _ in stand.ledger.makeSession(room: stand.room) }
        for sid in sids.prefix(3) { play(sid, .opened, "720p", at: 1) }
        for sid in sids.prefix(3) { play(sid, .watched(since: stand.start.advanced(seconds: 1)), "720p", at: 6) }
        play(sids[3], .opened, "360p", at: 10)
        play(sids[3], .watched(since: stand.start.advanced(seconds: 10)), "360p", at: 15)
        play(sids[2], .closed(.left), "720p", at: 20)
        for sid in sids.prefix(2) {
            play(sid, .closed(.left), "720p", at: 30)
            play(sid, .opened, "360p", at: 30)
        }
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: stand.room, limit: 1).first).epoch
        let scope = ReportScope.broadcast(epoch)
        // Nothing is settled while it lasts.
        #expect(try await stand.keeper.settledPeaks(of: scope).isEmpty)
        play(sids[2], .opened, "720p", at: 40)
        for sid in sids { play(sid, .closed(.left), "", at: 50) }
        stand.advance(to: 100)
        stand.ledger.roomEnded(stand.room)
        #expect(await stand.write())
        let peaks = try await stand.keeper.settledPeaks(of: scope)
        let start = Int64(1_800_000_000_000)
        #expect(peaks[nil] == SettledPeak(viewers: 4, at: start + 10_000))
        #expect(peaks[ViewerGroup(.rendition, "720p")] == SettledPeak(viewers: 3, at: start + 1000))
        #expect(peaks[ViewerGroup(.rendition, "360p")] == SettledPeak(viewers: 3, at: start + 30_000))
        #expect(peaks[ViewerGroup(.playback, "rtmp")]?.viewers == 4)
        // Of a part of the time what was in it; the room was over before the time's end.
        let minute = start / 60_000
        let time = try await stand.keeper.settledPeaks(of: .period(minute..<minute + 5))
        #expect(time[nil]?.viewers == 4 && time[ViewerGroup(.rendition, "360p")]?.viewers == 3)
        #expect(try await stand.keeper.settledPeaks(of: .period(minute + 3..<minute + 5)).isEmpty)
    }

    @Test("G5 G7 a broadcast that outlasts its sessions keeps its peak and who was there, over a kill as well")
    func longBroadcast() async throws {
        let stand = try HistoryStand()
        let early = (0..<9).map { stand.watch(from: Double($0) / 10) }
        stand.advance(to: 30)
        // One is away for a moment: together they were nine all the same.
        stand.record(early[0], .closed(.left), at: 31, by: .rtmp)
        stand.record(early[0], .opened, at: 40, by: .rtmp)
        for sid in early { stand.record(sid, .closed(.left), at: 60, by: .rtmp) }
        stand.advance(to: 120)
        #expect(await stand.write())
        let stay = stand.watch(from: 121)
        #expect(await stand.write())
        let day = 86_400.0
        stand.clock.move(to: stand.start.advanced(seconds: 31 * day))
        // Tidied with the first write of a keeper.
        stand.restart()
        stand.record(stay, .opened, at: 31 * day + 1, by: .rtmp)
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first).epoch
        #expect(try await stand.keeper.sessions(epoch: epoch, after: nil, limit: 100).count < 9)
        #expect(try await stand.keeper.settledPeak(epoch: epoch)?.viewers == 9)
        stand.restart()
        #expect(stand.ledger.report(room: "show").uniques.devices == 10)
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.ended != nil && broadcast.uniques.devices == 10)
        #expect(try await stand.keeper.settledPeak(epoch: epoch)?.viewers == 9)
    }
}
