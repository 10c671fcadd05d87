import FootlightTesting
import Foundation
import Media
import Stage
import Testing
import Viewership

@testable import Persistence

@Suite("Reports from the stored history")
struct HistoryReportsTests {
    private static let first = Int64(1_800_000_000 / 60)

    /// Makes minutes of two rooms, each with viewers of three regions and two protocols, and the totals.
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
                        rows.append(
                            MinuteRow(
                                key: key(dimensions),
                                counts: AudienceCounts(joins: 1, watched: 60_000),
                                aired: 60_000
                            )
                        )
                    }
                }
                let whole = MinuteRow.Key(room: "", epoch: 0, minute: minute, dimensions: nil)
                rows.append(MinuteRow(key: whole, minimum: 10, maximum: 12, last: 12))
                for row in rows { batch.minutes[row.key] = row }
            }
        }
        return batch
    }

    @Test("a series is aggregated in steps and groups, for one room and for all, within its limit")
    func series() async throws {
        let fixture = try HistoryFixture()
        #expect(await fixture.store.write(batch(minutes: 60)))
        let (from, to) = (Self.first, Self.first + 60)
        // Two rows per step, whatever the number of minutes.
        let hours = try await fixture.minutes(room: "one", from: from, to: to, step: 30, limit: 4)
        #expect(hours.count == 4 && Set(hours.map(\.key.minute)) == [from, from + 30])
        let points = ViewershipTimeline(hours, from: from, step: 30, grouping: nil).points
        #expect(points.map(\.counts.watched) == [30 * 360_000, 30 * 360_000] && points.map(\.peak) == [6, 6])
        #expect(points.map(\.counts.joins) == [180, 180])
        let regions = try await fixture.minutes(room: "one", from: from, to: to, step: 60, by: .region)
        let byRegion = ViewershipTimeline(regions, from: from, step: 60, grouping: .region).points
        #expect(byRegion.map(\.group) == ["", "DE", "US-CA"])
        #expect(byRegion.map(\.counts.watched) == [7_200_000, 7_200_000, 7_200_000])
        let ways = try await fixture.minutes(room: "one", from: from, to: to, step: 60, by: .playback)
        let byProtocol = ViewershipTimeline(ways, from: from, step: 60, grouping: .playback).points
        #expect(
            byProtocol.map(\.group) == ["hls", "rtmp"] && byProtocol.map(\.counts.watched) == [10_800_000, 10_800_000]
        )
        // All rooms: the sum of the viewers, and the peak of both together.
        let all = try await fixture.minutes(room: nil, from: from, to: to, step: 60)
        let total = ViewershipTimeline(all, from: from, step: 60, grouping: nil).points
        #expect(
            total.map(\.counts.watched) == [2 * 60 * 360_000] && total.map(\.peak) == [12]
                && total.map(\.counts.joins) == [720]
        )
        #expect(try await fixture.minutes(room: nil, from: from, to: to, by: .region, limit: 7).count == 7)
    }

    @Test("a period of all rooms reports the time on air of any program, the total peak and the watch time")
    func period() async throws {
        let fixture = try HistoryFixture()
        var batch = batch(minutes: 20)
        // Both begin within the first minute; in the last minute only one is on air to the end.
        for (room, epoch, minute, aired) in [("one", 1, 0, 20_000), ("two", 2, 0, 30_000), ("one", 1, 19, 0)] {
            let minute = Self.first + Int64(minute)
            let key = MinuteRow.Key(room: room, epoch: Int64(epoch), minute: minute, dimensions: nil)
            batch.minutes[key]?.aired = Int64(aired)
        }
        batch.minutes[.init(room: "", epoch: 0, minute: Self.first + 7, dimensions: nil)]?.maximum = 13
        #expect(await fixture.store.write(batch))
        func air(_ from: Int64, _ to: Int64) async throws -> PeriodFigures.Air {
            try await fixture.store.air(from: Self.first + from, to: Self.first + to)
        }
        let all = try await air(-100, 100)
        #expect(all.broadcasts == 2 && all.duration == 30_000 + 19 * 60_000)
        #expect(all.peak?.viewers == 13 && all.peak?.minute == Self.first + 7)
        let part = try await air(10, 15)
        #expect(part.duration == 300_000 && part.peak?.viewers == 12)
        let none = try await air(100, 200)
        #expect(none.broadcasts == 0 && none.duration == 0 && none.peak == nil)
        let scope = ReportScope.period(Self.first + 10..<Self.first + 15)
        let groups = try await fixture.store.groups(of: scope)
        let figures = PeriodFigures(sums: try await fixture.store.sums(of: scope), groups: groups, air: part)
        #expect(figures.whole.counts.joins == 60 && figures.whole.counts.watched == 5 * 720_000)
        #expect(figures.average(of: figures.whole) == 12)
        let ways = figures.slices[.playback]
        #expect(ways.keys.sorted() == ["hls", "rtmp"] && ways["hls"]?.counts.joins == 30)
        let germany = try #require(figures.slices[.region]["DE"])
        #expect(germany.counts.joins == 20 && figures.average(of: germany) == 4)
        // There are no session rows.
        #expect(figures.whole.figures.uniques == UniqueViewers())
    }

    @Test("each group of a broadcast or period has its peak, stalls, average and distinct viewers")
    func groups() async throws {
        let fixture = try HistoryFixture()
        fixture.ledger.setOnAir("show", true)
        func join(
            _ identity: String?,
            _ playback: PlaybackProtocol,
            at seconds: Double,
            room: String = "show"
        ) -> String {
            let sid =
                identity.map { fixture.ledger.makeSession(room: room, identity: $0) }
                ?? fixture.ledger.makeSession(room: room)
            fixture.record(sid, .opened, at: seconds, by: playback, room: room)
            fixture.record(
                sid,
                .watched(since: fixture.start.advanced(seconds: seconds)),
                at: seconds + 5,
                by: playback,
                room: room
            )
            return sid
        }
        // Ann by RTMP, twice, and by FLV; Ben by FLV with a stall; an anonymous viewer in another room.
        let first = join("ann", .rtmp, at: 1)
        let second = join("ann", .rtmp, at: 10)
        let third = join("ann", .flv, at: 20)
        let ben = join("ben", .flv, at: 30)
        _ = join(nil, .rtmp, at: 40, room: "other")
        fixture.record(ben, .stalled(milliseconds: 1500), at: 50, by: .flv)
        for second in 51...200 {
            fixture.advance(to: Double(second))
            #expect(await fixture.write())
        }
        for sid in [first, second] { fixture.record(sid, .closed(.left), at: 200, by: .rtmp) }
        fixture.record(third, .closed(.left), at: 200, by: .flv)
        for second in 201...300 {
            fixture.advance(to: Double(second))
            #expect(await fixture.write())
        }
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        let scope = ReportScope.broadcast(broadcast.epoch)
        let groups = try await fixture.store.groups(of: scope)
        let figures = BroadcastFigures(
            broadcast: broadcast,
            sums: try await fixture.store.sums(of: scope),
            groups: groups,
            now: 0
        )
        let (rtmp, flv) = (figures.slices[.playback]["rtmp"], figures.slices[.playback]["flv"])
        #expect(rtmp?.figures.peak == 2 && flv?.figures.peak == 2)
        #expect(rtmp?.figures.uniques?.users == 1 && flv?.figures.uniques?.users == 2)
        #expect(rtmp?.counts.stalled == 0 && flv?.counts.stalled == 1500 && figures.whole.counts.stalled == 1500)
        #expect(groups[nil]?.uniques?.users == 2 && broadcast.uniques.users == 2)
        #expect(groups[ViewerGroup(.rendition, "720p")]?.peak == 4)
        let audiences = [rtmp, flv].compactMap(\.self).map { figures.average(of: $0) }
        let whole = figures.average(of: figures.whole)
        #expect(audiences.count == 2 && abs(audiences.reduce(0, +) - whole) < 1e-9 && whole > 2)
        // A period covers both rooms.
        let minutes = Self.first..<Self.first + 10
        let all = try await fixture.store.groups(of: .period(minutes))
        #expect(all[ViewerGroup(.playback, "rtmp")]?.peak == 3 && all[nil]?.uniques?.users == 2)
        #expect(all[nil]?.uniques?.devices == 3 && all[ViewerGroup(.playback, "rtmp")]?.uniques?.devices == 2)
        #expect(try await fixture.store.groups(of: .period(Self.first + 4..<Self.first + 10))[nil]?.uniques?.users == 1)
        // Peaks of groups over time.
        let series = try await fixture.minutes(room: "show", from: Self.first, to: Self.first + 10, by: .playback)
        let points = ViewershipTimeline(series, from: Self.first, step: 1, grouping: .playback).points
        #expect(points.filter { $0.group == "rtmp" }.map(\.peak).contains(2))
        #expect(points.last { $0.group == "flv" }?.peak == 1 && points.map(\.counts.stalled).reduce(0, +) == 1500)
    }

    @Test("a viewer of several renditions counts in each; a group without viewers left has none")
    func severalRenditions() async throws {
        let fixture = try HistoryFixture()
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
        #expect(await fixture.store.write(batch))
        let groups = try await fixture.store.groups(of: .broadcast(1))
        func devices(_ grouping: ViewershipGrouping, _ name: String) -> Int? {
            groups[ViewerGroup(grouping, name)]?.uniques?.devices
        }
        #expect(devices(.rendition, "360p") == 2 && devices(.rendition, "1080p") == 2 && devices(.rendition, "") == 1)
        #expect(devices(.playback, "llhls") == 2 && devices(.playback, "hls") == 0)
        #expect(groups[ViewerGroup(.playback, "llhls")]?.peak == nil && groups[nil]?.uniques?.devices == 2)
        #expect(try await fixture.store.groups(of: .broadcast(9)).isEmpty)
    }

    @Test("distinct viewers beyond the retention of sessions are unknown")
    func olderThanRetention() async throws {
        let fixture = try HistoryFixture()
        fixture.watch(from: 1)
        fixture.advance(to: 60)
        #expect(await fixture.write())
        let month = Self.first..<Self.first + 40 * 1440
        #expect(try await fixture.store.groups(of: .period(month))[nil]?.uniques?.devices == 1)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 31 * 86_400))
        fixture.restart()
        #expect(await fixture.write())
        #expect(try await fixture.store.groups(of: .period(month))[nil]?.uniques == nil)
        let today = Self.first + 31 * 1440 - 60
        #expect(try await fixture.store.groups(of: .period(today..<today + 120))[nil]?.uniques != nil)
    }

    @Test("G4 the stored ACV is over the time on air, and the total peak survives a kill")
    func onAir() async throws {
        let fixture = try HistoryFixture()
        for number in 0..<30 { fixture.ledger.participantWatching(room: "show", identity: "\(number)") }
        for second in 1...600 {
            if second == 305 { fixture.ledger.setOnAir("show", true) }
            if second == 490 { fixture.ledger.setOnAir("show", false) }
            fixture.advance(to: Double(second))
            if second % 5 == 0 { #expect(await fixture.write()) }
        }
        fixture.ledger.roomBegan("other")
        fixture.ledger.participantWatching(room: "other", identity: "x")
        #expect(await fixture.write())
        #expect(fixture.ledger.totals().total.uniques.users == 31)
        fixture.restart()
        let total = fixture.ledger.totals().total
        #expect(total.peak == 31 && total.concurrent == 0)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.onAir == 185_000)
        let scope = ReportScope.broadcast(broadcast.epoch)
        let peaks = try await fixture.store.settledPeaks(of: scope)
        let groups = peaks.mapValues { GroupFigures(settledPeak: $0) }
        let sums = try await fixture.store.sums(of: scope)
        let figures = BroadcastFigures(broadcast: broadcast, sums: sums, groups: groups, now: 0)
        #expect(peaks[nil]?.viewers == 30 && peaks[ViewerGroup(.playback, "sdk")]?.viewers == 30)
        // Watch time is written every five seconds; minutes at both ends are weighted.
        #expect(abs(figures.average(of: figures.whole) - 30) < 0.01 && figures.average(of: figures.whole) <= 30)
        #expect(figures.duration == 185_000)
    }

    @Test("settled peaks of a broadcast and its groups follow moves and gaps")
    func settledGroups() async throws {
        let fixture = try HistoryFixture()
        func play(_ sid: String, _ kind: AudienceEvent.Kind, _ rendition: String, at seconds: Double) {
            fixture.clock.advance(to: fixture.start.advanced(seconds: seconds))
            fixture.ledger.record(
                AudienceEvent(
                    sid: sid,
                    room: fixture.room,
                    playback: .rtmp,
                    rendition: rendition,
                    kind: kind,
                    at: fixture.clock.now
                )
            )
        }
        // Three in 720p, of whom two switch to 360p while the third is interrupted; a fourth joined 360p before.
        let sids = (0..<4).map { _ in fixture.ledger.makeSession(room: fixture.room) }
        for sid in sids.prefix(3) { play(sid, .opened, "720p", at: 1) }
        for sid in sids.prefix(3) { play(sid, .watched(since: fixture.start.advanced(seconds: 1)), "720p", at: 6) }
        play(sids[3], .opened, "360p", at: 10)
        play(sids[3], .watched(since: fixture.start.advanced(seconds: 10)), "360p", at: 15)
        play(sids[2], .closed(.left), "720p", at: 20)
        for sid in sids.prefix(2) {
            play(sid, .closed(.left), "720p", at: 30)
            play(sid, .opened, "360p", at: 30)
        }
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: fixture.room, limit: 1).first).epoch
        let scope = ReportScope.broadcast(epoch)
        // There is no settled peak while the broadcast is in progress.
        #expect(try await fixture.store.settledPeaks(of: scope).isEmpty)
        play(sids[2], .opened, "720p", at: 40)
        for sid in sids { play(sid, .closed(.left), "", at: 50) }
        fixture.advance(to: 100)
        fixture.ledger.roomEnded(fixture.room)
        #expect(await fixture.write())
        let peaks = try await fixture.store.settledPeaks(of: scope)
        let start = Int64(1_800_000_000_000)
        #expect(peaks[nil] == SettledPeak(viewers: 4, at: start + 10_000))
        #expect(peaks[ViewerGroup(.rendition, "720p")] == SettledPeak(viewers: 3, at: start + 1000))
        #expect(peaks[ViewerGroup(.rendition, "360p")] == SettledPeak(viewers: 3, at: start + 30_000))
        #expect(peaks[ViewerGroup(.playback, "rtmp")]?.viewers == 4)
        // A period covers the part of the broadcast within it.
        let minute = start / 60_000
        let time = try await fixture.store.settledPeaks(of: .period(minute..<minute + 5))
        #expect(time[nil]?.viewers == 4 && time[ViewerGroup(.rendition, "360p")]?.viewers == 3)
        #expect(try await fixture.store.settledPeaks(of: .period(minute + 3..<minute + 5)).isEmpty)
    }

    @Test("how long viewers stayed is known while single playbacks are stored, and after them")
    func retention() async throws {
        let fixture = try HistoryFixture()
        let first = fixture.watch(from: 0)
        let second = fixture.watch(from: 5)
        fixture.record(first, .closed(.left), at: 70, by: .rtmp)
        fixture.watch(from: 100)
        fixture.advance(to: 150)
        fixture.record(second, .closed(.left), at: 155, by: .rtmp)
        fixture.advance(to: 200)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        let end = try #require(broadcast.ended)
        let found = try await fixture.store.retention(of: broadcast, until: end, step: 60_000)
        #expect(found?.points.map(\.joins) == [3, 3, 2, 2])
        #expect(found?.points.map(\.watching) == [3, 3, 1, 0])
        fixture.clock.advance(to: fixture.start.advanced(seconds: 31 * 86_400))
        fixture.restart()
        #expect(await fixture.write())
        #expect(try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10).isEmpty)
        let settled = try await fixture.store.retention(of: broadcast, until: end, step: 60_000)
        #expect(settled?.points == found?.points)
        // Known to ten seconds.
        let fine = try await fixture.store.retention(of: broadcast, until: end, step: 10_000)
        #expect(fine?.points.map(\.watching) == [3, 3, 3, 3, 3, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
    }

    @Test("how long viewers stayed is not known of a broadcast that outlasts its playbacks")
    func partialRetention() async throws {
        let fixture = try HistoryFixture()
        for number in 0..<9 {
            let sid = fixture.watch(from: Double(number))
            fixture.record(sid, .closed(.left), at: 20 + Double(number), by: .rtmp)
        }
        fixture.advance(to: 120)
        #expect(await fixture.write())
        fixture.clock.advance(to: fixture.start.advanced(seconds: 31 * 86_400))
        fixture.restart()
        // Deletes the playbacks of the broadcast in progress.
        #expect(await fixture.write())
        fixture.watch(from: 31 * 86_400 + 1)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        let end = try #require(broadcast.ended)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 62 * 86_400 + 10))
        fixture.restart()
        #expect(await fixture.write())
        #expect(try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10).isEmpty)
        #expect(try await fixture.store.retention(of: broadcast, until: end, step: 60_000_000) == nil)
    }

    @Test("two broadcasts within the same minute have the minutes of their own rooms")
    func neighbours() async throws {
        let fixture = try HistoryFixture()
        let first = fixture.watch(from: 1)
        fixture.record(first, .closed(.left), at: 10, by: .rtmp)
        fixture.ledger.roomEnded("show")
        fixture.advance(to: 12)
        fixture.ledger.roomBegan("show", sid: "RM2")
        for number in 0..<2 { fixture.watch(from: 13 + Double(number)) }
        fixture.advance(to: 30)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let minute = Int64(1_800_000_000 / 60)
        func joins(_ sid: String?) async throws -> [Int] {
            let rows = try await fixture.minutes(room: "show", sid: sid, from: minute, to: minute + 2, by: .playback)
            return [rows.map(\.counts.joins).reduce(0, +), rows.map(\.maximum).max() ?? 0]
        }
        #expect(try await joins("RM1") == [1, 1])
        #expect(try await joins("RM2") == [2, 2])
        #expect(try await joins(nil) == [3, 2])
    }

    @Test("G5 G7 a broadcast that outlasts its sessions retains its peak and distinct viewers, across a kill too")
    func longBroadcast() async throws {
        let fixture = try HistoryFixture()
        let early = (0..<9).map { fixture.watch(from: Double($0) / 10) }
        fixture.advance(to: 30)
        // One is interrupted for a moment; the peak is nine all the same.
        fixture.record(early[0], .closed(.left), at: 31, by: .rtmp)
        fixture.record(early[0], .opened, at: 40, by: .rtmp)
        for sid in early { fixture.record(sid, .closed(.left), at: 60, by: .rtmp) }
        fixture.advance(to: 120)
        #expect(await fixture.write())
        let stay = fixture.watch(from: 121)
        #expect(await fixture.write())
        let day = 86_400.0
        fixture.clock.advance(to: fixture.start.advanced(seconds: 31 * day))
        // Expired rows are deleted after the first write of a store.
        fixture.restart()
        fixture.record(stay, .opened, at: 31 * day + 1, by: .rtmp)
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first).epoch
        #expect(try await fixture.store.sessions(epoch: epoch, after: nil, limit: 100).count < 9)
        #expect(try await fixture.store.settledPeak(epoch: epoch)?.viewers == 9)
        fixture.restart()
        #expect(fixture.ledger.report(room: "show").uniques.devices == 10)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.ended != nil && broadcast.uniques.devices == 10)
        #expect(try await fixture.store.settledPeak(epoch: epoch)?.viewers == 9)
    }
}
