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
}
