import Foundation
import Media
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("What can be told again from the disk")
struct HistoryGuaranteesTests {
    @Test("G5 the settled peak that is stored is the one that the session rows give")
    func peak() async throws {
        let stand = try HistoryStand()
        var leaves: [(at: Double, sid: String)] = []
        for number in 0..<60 {
            let start = Double(number * 7 % 61)
            leaves.append((start + 20 + Double(number * 13 % 37), ""))
            leaves[number].sid = stand.watch(from: start)
        }
        for leave in leaves.sorted(by: { $0.at < $1.at }) {
            stand.record(leave.sid, .closed(.left), at: leave.at, by: .rtmp)
        }
        stand.advance(to: 200)
        #expect(await stand.write())
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        let rows = try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 100)
        #expect(rows.count == 60)
        #expect(rows.allSatisfy { $0.end != nil })
        let stored = try #require(try await stand.keeper.settledPeak(epoch: broadcast.epoch))
        #expect(stored == Self.peak(rows, []))
        #expect(stored.viewers <= broadcast.peak)
    }

    /// The most at once, and when it was reached; who goes in a millisecond goes first.
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

    @Test("G5 with the times away, page by page, the rows give the settled peak that is stored; over a kill as well")
    func peakByPages() async throws {
        let stand = try HistoryStand()
        let sids = (0..<20).map { stand.watch(from: Double($0) / 4) }
        stand.advance(to: 20)
        let away = sids.enumerated().filter { $0.offset % 3 == 0 }
        for (number, sid) in away { stand.record(sid, .closed(.left), at: 21 + Double(number) / 10, by: .rtmp) }
        // Others are there only as long as those are not.
        for sid in (0..<5).map({ stand.watch(from: 24 + Double($0) / 10) }) {
            stand.record(sid, .closed(.left), at: 31, by: .rtmp)
        }
        for (number, sid) in away { stand.record(sid, .opened, at: 32 + Double(number) / 10, by: .rtmp) }
        stand.advance(to: 40)
        #expect(await stand.write())
        stand.clock.move(to: stand.start.advanced(seconds: 42))
        stand.restart()
        for sid in sids { stand.record(sid, .opened, at: 43, by: .rtmp) }
        stand.advance(to: 90)
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first).epoch
        var (rows, gaps): ([SessionRow], [GapRow]) = ([], [])
        while true {
            let after = rows.last.map { ($0.start, $0.code) }
            let page = try await stand.keeper.sessions(epoch: epoch, after: after, limit: 7)
            guard let first = page.first, let last = page.last else { break }
            rows += page
            gaps += try await stand.keeper.gaps(epoch: epoch, from: first, through: last, limit: 100)
            #expect(try await stand.keeper.gaps(epoch: epoch, from: first, through: last, limit: 1).count <= 1)
        }
        #expect(rows.count == 25 && gaps.count == away.count + 20)
        let stored = try #require(try await stand.keeper.settledPeak(epoch: epoch))
        #expect(stored == Self.peak(rows, gaps) && stored.viewers == 20)
        #expect(Self.peak(rows, []).viewers == 25)
    }

    @Test("G5 who had stopped to ask before a kill left where its last request says, and not at the kill")
    func peakOverKill() async throws {
        let stand = try HistoryStand()
        // One comes every 0.2 s, asks every 2 s for 20 s, and so leaves a second later: 105 at a time.
        let players = (0..<400).map { (sid: stand.ledger.makeSession(room: stand.room), start: 50 + $0 * 200) }
        let (kill, back) = (60_500, 61_500)
        let all = players.flatMap { player in (0...10).map { (at: player.start + $0 * 2000, sid: player.sid) } }
        var events = all.filter { !(kill..<back).contains($0.at) }.sorted { $0.at < $1.at }[...]
        func play(to milliseconds: Int) {
            while let event = events.first, event.at < milliseconds {
                events.removeFirst()
                // Not at the millisecond's edge, for a second is no sum of fractions of two.
                stand.record(event.sid, .playlistServed, at: Double(event.at) / 1000 + 0.0003, by: .hls)
            }
            stand.advance(to: Double(milliseconds) / 1000)
        }
        for second in 1...60 {
            play(to: second * 1000)
            #expect(await stand.write())
        }
        play(to: kill)
        stand.clock.move(to: stand.start.advanced(seconds: Double(back) / 1000))
        stand.restart()
        for second in 62...145 {
            play(to: second * 1000)
            #expect(await stand.write())
        }
        stand.ledger.roomEnded(stand.room)
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: stand.room, limit: 1).first).epoch
        #expect(try await stand.keeper.settledPeak(epoch: epoch)?.viewers == 105)
        let rows = try await stand.keeper.sessions(epoch: epoch, after: nil, limit: 1000)
        let byStart = Dictionary(rows.map { ($0.start, $0) }) { first, _ in first }
        for player in players where player.start <= 58_000 {
            let row = try #require(byStart[1_800_000_000_000 + Int64(player.start)])
            // What was asked after the last write is lost, and with it two seconds of who did not ask again.
            let isLost = (60_000..<back).contains(player.start + 20_000)
            let length: Int64 = isLost ? 19_000 : 21_000
            #expect(row.end == row.start + length && row.watched == length, "\(player.start)")
        }
    }

    @Test("G7 who was who by estimate, and whose players reported, is found again after a kill")
    func estimates() async throws {
        let stand = try HistoryStand()
        var sids: [String] = []
        for address in ["10.0.0.1", "10.0.0.2", "10.0.0.2"] {
            let request = PlayerRequest(userAgent: "p", address: address)
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { continue }
            for second in [0.0, 2, 4] { stand.record(sid, .playlistServed, at: second, by: .hls) }
            sids.append(sid)
        }
        #expect(await stand.write())
        // What is written later of the same sessions keeps it.
        var report = PlayerReport()
        report.sid = sids.first
        stand.ledger.take(report, room: stand.room)
        stand.advance(to: 8)
        #expect(await stand.write())
        #expect(stand.ledger.report(room: stand.room).uniques.estimated == 2)
        stand.restart()
        let found = stand.ledger.report(room: stand.room)
        #expect(found.uniques == UniqueViewers(users: 0, devices: 3, estimated: 2))
        stand.ledger.take(report, room: stand.room)
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.heard == 1)
        let rows = try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 10)
        #expect(rows.count { $0.isHeard } == 1 && Set(rows.map(\.estimate)).count == 2)
    }

    /// Somebody who watches from `start` to `end`, by a connection that a kill breaks, or by asking every two seconds.
    private struct Player {
        let sid: String
        let isConnection: Bool
        let start: Double
        let end: Double

        /// What it does around a kill, with moments in seconds.
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
        "G1 G3 of a show under a minute with a kill in its middle nobody joins twice, and only what was not written is lost",
        arguments: [24.05, 24.95]
    )
    func shortShow(killedAt kill: Double) async throws {
        let stand = try HistoryStand()
        let players: [Player] = (0..<1000).map { number in
            let (start, end) = (number * 37 % 1000, 3400 + number * 613 % 1000)
            let sid = stand.ledger.makeSession(room: stand.room)
            return Player(
                sid: sid,
                isConnection: number % 2 == 0,
                start: Double(start) / 100,
                end: Double(end) / 100
            )
        }
        let connections = Set(players.filter(\.isConnection).map(\.sid))
        let back = kill + 1.2
        let all = players.flatMap { $0.events(killedAt: kill, backAt: back, stand.start) }
        var events = all.sorted { $0.at < $1.at }[...]
        func play(to second: Double) {
            while let event = events.first, event.at < second {
                events.removeFirst()
                let playback = connections.contains(event.sid) ? PlaybackProtocol.rtmp : .hls
                stand.record(event.sid, event.kind, at: event.at, by: playback)
            }
            stand.advance(to: second)
        }
        for second in 1...Int(kill) {
            play(to: Double(second))
            #expect(await stand.write())
        }
        play(to: kill)
        #expect(stand.ledger.report(room: stand.room).joins == 1000)
        stand.clock.move(to: stand.start.advanced(seconds: back))
        stand.restart()
        #expect(stand.ledger.report(room: stand.room).joins == 1000)
        for second in Int(back) + 1...46 {
            play(to: Double(second))
            #expect(await stand.write())
        }
        let last = stand.ledger.report(room: stand.room)
        #expect(last.joins == 1000 && last.joins - last.leaves == last.concurrent + last.resumable)
        stand.ledger.roomEnded(stand.room)
        #expect(await stand.write())

        let broadcast = try #require(try await stand.keeper.broadcasts(room: stand.room, limit: 1).first)
        let sums = try await stand.keeper.sums(of: .broadcast(broadcast.epoch))
        #expect(sums.map(\.joins).reduce(0, +) == 1000 && sums.flatMap(\.leaves).reduce(0, +) == 1000)
        let rows = try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 2000)
        #expect(rows.count == 1000 && Set(rows.map(\.code)).count == 1000 && rows.allSatisfy(\.isClosed))
        #expect(broadcast.uniques.devices == 1000 && broadcast.peak == 1000)
        #expect(try await stand.keeper.settledPeak(epoch: broadcast.epoch)?.viewers == 1000)
        let away = back - kill
        let truth: Double = players.map { $0.end - $0.start - ($0.isConnection ? away : 0) }.reduce(0, +)
        let watched = Double(sums.map(\.watched).reduce(0, +)) / 1000
        // Connections lose what passed since the last write; what passed between two playlists is known again.
        let lost = (kill - kill.rounded(.down)) * 500
        #expect(abs(watched + lost - truth) < truth * 0.005, "\(watched) of \(truth), \(lost) lost")
        #expect(abs(Double(rows.map(\.watched).reduce(0, +)) / 1000 + lost - truth) < truth * 0.005)
    }

    @Test("G3 who is known by a late log counts on over a kill for as long as its log is late")
    func lateLog() async throws {
        let stand = try HistoryStand()
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.ledger.logsLag(milliseconds: 11_000)
        func log(at seconds: Double) {
            stand.clock.move(to: stand.start.advanced(seconds: seconds + 11))
            stand.log(sid, at: seconds)
        }
        for second in stride(from: 0.0, through: 20, by: 2) { log(at: second) }
        stand.advance(to: 31)
        #expect(await stand.write())
        stand.clock.move(to: stand.start.advanced(seconds: 32))
        stand.restart()
        for second in 33...42 {
            stand.advance(to: Double(second))
            #expect(stand.ledger.report(room: stand.room).concurrent == 1, "after \(second) s")
        }
        log(at: 32)
        let report = stand.ledger.report(room: stand.room)
        #expect(report.joins == 1 && report.watchTimeSeconds == 32)
    }

    @Test("G3 a log that tells late of an earlier request moves the beginning of a session, whose row is still one")
    func earlierRequest() async throws {
        let stand = try HistoryStand()
        let sid = stand.ledger.makeSession(room: stand.room)
        for second in [2.0, 4, 6] { stand.log(sid, at: second) }
        stand.advance(to: 7)
        #expect(await stand.write())
        stand.log(sid, at: 0)
        stand.advance(to: 8)
        #expect(await stand.write())
        stand.restart()
        // A clock that is read anew is a little off.
        stand.log(sid, at: -0.001)
        stand.log(sid, at: 8)
        stand.advance(to: 100)
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: stand.room, limit: 1).first).epoch
        let rows = try await stand.keeper.sessions(epoch: epoch, after: nil, limit: 10)
        #expect(rows.count == 1 && rows.first?.watched == 9000, "\(rows)")
        #expect(rows.first.map { ($0.end ?? 0) - $0.start } == 9000, "\(rows)")
    }
}
