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
        let moves = rows.flatMap { row in [(row.start, 1)] + (row.end.map { [($0, -1)] } ?? []) }
        var (viewers, most, at) = (0, 0, Int64(0))
        for move in moves.sorted(by: { $0 < $1 }) {
            viewers += move.1
            if viewers > most { (most, at) = (viewers, move.0) }
        }
        #expect(viewers == 0)
        let stored = try #require(try await stand.keeper.settledPeak(epoch: broadcast.epoch))
        #expect(stored.viewers == most && stored.at == at)
        #expect(most <= broadcast.peak)
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
        let sums = try await stand.keeper.sums(epoch: broadcast.epoch)
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
}
