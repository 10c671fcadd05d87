import FootlightTesting
import Foundation
import Media
import Stage
import TestSupport
import Testing
import Viewership

@testable import Persistence

@Suite("Guarantees of the stored history", .enabled(if: TestRun.isFull))
struct HistoryGuaranteesTests {
    @Test("G5 the stored settled peak equals the one of the session rows")
    func peak() async throws {
        let fixture = try HistoryFixture()
        var leaves: [(at: Double, sid: String)] = []
        for number in 0..<60 {
            let start = Double(number * 7 % 61)
            leaves.append((start + 20 + Double(number * 13 % 37), ""))
            leaves[number].sid = fixture.watch(from: start)
        }
        for leave in leaves.sorted(by: { $0.at < $1.at }) {
            fixture.record(leave.sid, .closed(.left), at: leave.at, by: .rtmp)
        }
        fixture.advance(to: 200)
        #expect(await fixture.write())
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        let rows = try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 100)
        #expect(rows.count == 60)
        #expect(rows.allSatisfy { $0.end != nil })
        let stored = try #require(try await fixture.store.settledPeak(epoch: broadcast.epoch))
        #expect(stored == Self.peak(rows, []))
        #expect(stored.viewers <= broadcast.peak)
    }

    /// Computes the concurrent peak; at equal times ends come first.
    private static func peak(_ rows: [SessionRow], _ gaps: [GapRow]) -> (viewers: Int, at: Int64) {
        var moves = rows.flatMap { row in [(row.start, 1)] + (row.end.map { [($0, -1)] } ?? []) }
        moves += gaps.flatMap { [($0.from, -1), ($0.to, 1)] }
        var (viewers, most, at) = (0, 0, Int64(0))
        for move in moves.sorted(by: { $0 < $1 }) {
            viewers += move.1
            if viewers > most { (most, at) = (viewers, move.0) }
        }
        return (most, at)
    }

    @Test("G5 paged session and gap rows give the stored settled peak, across a kill too")
    func peakByPages() async throws {
        let fixture = try HistoryFixture()
        let sids = (0..<20).map { fixture.watch(from: Double($0) / 4) }
        fixture.advance(to: 20)
        let away = sids.enumerated().filter { $0.offset % 3 == 0 }
        for (number, sid) in away { fixture.record(sid, .closed(.left), at: 21 + Double(number) / 10, by: .rtmp) }
        // These watch only during the interruption of the others.
        for sid in (0..<5).map({ fixture.watch(from: 24 + Double($0) / 10) }) {
            fixture.record(sid, .closed(.left), at: 31, by: .rtmp)
        }
        for (number, sid) in away { fixture.record(sid, .opened, at: 32 + Double(number) / 10, by: .rtmp) }
        fixture.advance(to: 40)
        #expect(await fixture.write())
        fixture.clock.advance(to: fixture.start.advanced(seconds: 42))
        fixture.restart()
        for sid in sids { fixture.record(sid, .opened, at: 43, by: .rtmp) }
        fixture.advance(to: 90)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first).epoch
        var (rows, gaps): ([SessionRow], [GapRow]) = ([], [])
        while true {
            let after = rows.last.map { ($0.start, $0.code) }
            let page = try await fixture.store.sessions(epoch: epoch, after: after, limit: 7)
            guard let first = page.first, let last = page.last else { break }
            rows += page
            gaps += try await fixture.store.gaps(epoch: epoch, from: first, through: last, limit: 100)
            #expect(try await fixture.store.gaps(epoch: epoch, from: first, through: last, limit: 1).count <= 1)
        }
        #expect(rows.count == 25 && gaps.count == away.count + 20)
        let stored = try #require(try await fixture.store.settledPeak(epoch: epoch))
        #expect(stored == Self.peak(rows, gaps) && stored.viewers == 20)
        #expect(Self.peak(rows, []).viewers == 25)
    }

    @Test("G5 an HLS viewer that left before a kill ends at its last request, not at the kill")
    func peakOverKill() async throws {
        let fixture = try HistoryFixture()
        // One joins every 0.2 s, polls every 2 s for 20 s and ends a second later: 105 are concurrent.
        let players = (0..<400).map { (sid: fixture.ledger.makeSession(room: fixture.room), start: 50 + $0 * 200) }
        let (kill, back) = (60_500, 61_500)
        let all = players.flatMap { player in (0...10).map { (at: player.start + $0 * 2000, sid: player.sid) } }
        var events = all.filter { !(kill..<back).contains($0.at) }.sorted { $0.at < $1.at }[...]
        func play(to milliseconds: Int) {
            while let event = events.first, event.at < milliseconds {
                events.removeFirst()
                // Avoids exact milliseconds, because of floating-point rounding.
                fixture.record(event.sid, .playlistServed, at: Double(event.at) / 1000 + 0.0003, by: .hls)
            }
            fixture.advance(to: Double(milliseconds) / 1000)
        }
        for second in 1...60 {
            play(to: second * 1000)
            #expect(await fixture.write())
        }
        play(to: kill)
        fixture.clock.advance(to: fixture.start.advanced(seconds: Double(back) / 1000))
        fixture.restart()
        for second in 62...145 {
            play(to: second * 1000)
            #expect(await fixture.write())
        }
        fixture.ledger.roomEnded(fixture.room)
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: fixture.room, limit: 1).first).epoch
        #expect(try await fixture.store.settledPeak(epoch: epoch)?.viewers == 105)
        let rows = try await fixture.store.sessions(epoch: epoch, after: nil, limit: 1000)
        let byStart = Dictionary(rows.map { ($0.start, $0) }) { first, _ in first }
        for player in players where player.start <= 58_000 {
            let row = try #require(byStart[1_800_000_000_000 + Int64(player.start)])
            // Requests after the last write are lost, with two seconds of viewers that did not poll again.
            let isLost = (60_000..<back).contains(player.start + 20_000)
            let length: Int64 = isLost ? 19_000 : 21_000
            #expect(row.end == row.start + length && row.watched == length, "\(player.start)")
        }
    }

    @Test("G7 estimated viewers and the number of reporting sessions are restored after a kill")
    func estimates() async throws {
        let fixture = try HistoryFixture()
        var sids: [String] = []
        for address in ["10.0.0.1", "10.0.0.2", "10.0.0.2"] {
            let request = PlayerRequest(userAgent: "p", address: address)
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { continue }
            for second in [0.0, 2, 4] { fixture.record(sid, .playlistServed, at: second, by: .hls) }
            sids.append(sid)
        }
        #expect(await fixture.write())
        // Later rows of the same sessions keep the estimate.
        var report = PlayerReport()
        report.sid = sids.first
        fixture.ledger.receive(report, room: fixture.room)
        fixture.advance(to: 8)
        #expect(await fixture.write())
        #expect(fixture.ledger.report(room: fixture.room).uniques.estimated == 2)
        fixture.restart()
        let found = fixture.ledger.report(room: fixture.room)
        #expect(found.uniques == UniqueViewers(users: 0, devices: 3, estimated: 2))
        fixture.ledger.receive(report, room: fixture.room)
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.reportingSessions == 1)
        let rows = try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10)
        #expect(rows.count { $0.hasReported } == 1 && Set(rows.map(\.estimate)).count == 2)
    }

    /// A viewer from `start` to `end`, by a connection that a kill breaks, or by polling every two seconds.
    private struct Player {
        let sid: String
        let isConnection: Bool
        let start: Double
        let end: Double

        /// The events around a kill; times in seconds.
        func events(killedAt kill: Double, backAt back: Double, _ start: MonotonicTime) -> [Event] {
            guard !isConnection else {
                let watched = AudienceEvent.Kind.watched(since: start.advanced(seconds: self.start))
                return [
                    (self.start, sid, .opened), (self.start + 5, sid, watched), (back, sid, .opened),
                    (end, sid, .closed(.left)),
                ]
            }
            let polls = stride(from: self.start, through: end, by: 2).filter { $0 < kill || $0 >= back }
            return polls.map { ($0, sid, .playlistServed) }
        }
    }

    private typealias Event = (at: Double, sid: String, kind: AudienceEvent.Kind)

    @Test(
        "G1 G3 across a kill in a short broadcast no viewer joins twice, and only unwritten time is lost",
        arguments: [24.05, 24.95]
    )
    func shortShow(killedAt kill: Double) async throws {
        let fixture = try HistoryFixture()
        let players: [Player] = (0..<1000).map { number in
            let (start, end) = (number * 37 % 1000, 3400 + number * 613 % 1000)
            let sid = fixture.ledger.makeSession(room: fixture.room)
            return Player(
                sid: sid,
                isConnection: number % 2 == 0,
                start: Double(start) / 100,
                end: Double(end) / 100
            )
        }
        let connections = Set(players.filter(\.isConnection).map(\.sid))
        let back = kill + 1.2
        let all = players.flatMap { $0.events(killedAt: kill, backAt: back, fixture.start) }
        var events = all.sorted { $0.at < $1.at }[...]
        func play(to second: Double) {
            while let event = events.first, event.at < second {
                events.removeFirst()
                let playback = connections.contains(event.sid) ? PlaybackProtocol.rtmp : .hls
                fixture.record(event.sid, event.kind, at: event.at, by: playback)
            }
            fixture.advance(to: second)
        }
        for second in 1...Int(kill) {
            play(to: Double(second))
            #expect(await fixture.write())
        }
        play(to: kill)
        #expect(fixture.ledger.report(room: fixture.room).joins == 1000)
        fixture.clock.advance(to: fixture.start.advanced(seconds: back))
        fixture.restart()
        #expect(fixture.ledger.report(room: fixture.room).joins == 1000)
        for second in Int(back) + 1...46 {
            play(to: Double(second))
            #expect(await fixture.write())
        }
        let last = fixture.ledger.report(room: fixture.room)
        #expect(last.joins == 1000 && last.joins - last.leaves == last.concurrent + last.resumable)
        fixture.ledger.roomEnded(fixture.room)
        #expect(await fixture.write())

        let broadcast = try #require(try await fixture.store.broadcasts(room: fixture.room, limit: 1).first)
        let sums = try await fixture.store.sums(of: .broadcast(broadcast.epoch))
        #expect(sums.map(\.counts.joins).reduce(0, +) == 1000 && sums.map(\.counts.leaves.sum).reduce(0, +) == 1000)
        let rows = try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 2000)
        #expect(rows.count == 1000 && Set(rows.map(\.code)).count == 1000 && rows.allSatisfy(\.isClosed))
        #expect(broadcast.uniques.devices == 1000 && broadcast.peak == 1000)
        #expect(try await fixture.store.settledPeak(epoch: broadcast.epoch)?.viewers == 1000)
        let away = back - kill
        let truth: Double = players.map { $0.end - $0.start - ($0.isConnection ? away : 0) }.reduce(0, +)
        let watched = Double(sums.map(\.counts.watched).reduce(0, +)) / 1000
        // Connections lose the time since the last write; time between two playlists is counted later.
        let lost = (kill - kill.rounded(.down)) * 500
        #expect(abs(watched + lost - truth) < truth * 0.005, "\(watched) of \(truth), \(lost) lost")
        #expect(abs(Double(rows.map(\.watched).reduce(0, +)) / 1000 + lost - truth) < truth * 0.005)
    }

    @Test("G3 across a kill a viewer of a late log counts for as long as the log lags")
    func lateLog() async throws {
        let fixture = try HistoryFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.ledger.logsLag(milliseconds: 11_000)
        func log(at seconds: Double) {
            fixture.clock.advance(to: fixture.start.advanced(seconds: seconds + 11))
            fixture.log(sid, at: seconds)
        }
        for second in stride(from: 0.0, through: 20, by: 2) { log(at: second) }
        fixture.advance(to: 31)
        #expect(await fixture.write())
        fixture.clock.advance(to: fixture.start.advanced(seconds: 32))
        fixture.restart()
        for second in 33...42 {
            fixture.advance(to: Double(second))
            #expect(fixture.ledger.report(room: fixture.room).concurrent == 1, "after \(second) s")
        }
        log(at: 32)
        let report = fixture.ledger.report(room: fixture.room)
        #expect(report.joins == 1 && report.watchTimeSeconds == 32)
    }

    @Test("G3 a late log line about an earlier request moves the start of the session's only row")
    func earlierRequest() async throws {
        let fixture = try HistoryFixture()
        let sid = fixture.ledger.makeSession(room: fixture.room)
        for second in [2.0, 4, 6] { fixture.log(sid, at: second) }
        fixture.advance(to: 7)
        #expect(await fixture.write())
        fixture.log(sid, at: 0)
        fixture.advance(to: 8)
        #expect(await fixture.write())
        fixture.restart()
        // The clock of the next run differs a little.
        fixture.log(sid, at: -0.001)
        fixture.log(sid, at: 8)
        fixture.advance(to: 100)
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: fixture.room, limit: 1).first).epoch
        let rows = try await fixture.store.sessions(epoch: epoch, after: nil, limit: 10)
        #expect(rows.count == 1 && rows.first?.watched == 9000, "\(rows)")
        #expect(rows.first.map { ($0.end ?? 0) - $0.start } == 9000, "\(rows)")
    }
}
