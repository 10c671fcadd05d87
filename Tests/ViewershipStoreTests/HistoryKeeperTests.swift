import Foundation
import GRDB
import Media
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("The audience's history on disk")
struct HistoryKeeperTests {
    /// Of somebody who begins a transaction and does not end it.
    private static var unsafe: Configuration {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    @Test("F39 G8 a killed gateway loses what was not written, doubles no join, and goes on with its counters")
    func killed() async throws {
        let stand = try HistoryStand()
        let sid = stand.watch(from: 0)
        for second in stride(from: 6.0, through: 20, by: 1) {
            stand.advance(to: second)
            #expect(await stand.write())
        }
        // Joined after the last write: lost with the process, found again when its player comes back.
        let late = stand.watch(from: 20.2)
        stand.advance(to: 28)
        stand.restart()
        #expect(stand.ledger.report(room: "show").joins == 1)
        #expect(stand.ledger.report(room: "show").recovering)
        stand.record(sid, .opened, at: 29, by: .rtmp)
        stand.record(late, .opened, at: 29, by: .rtmp)
        stand.record(late, .watched(since: stand.start.advanced(seconds: 29)), at: 34, by: .rtmp)
        let report = stand.ledger.report(room: "show")
        #expect(report.concurrent == 2)
        #expect(report.joins == 2)
        #expect(report.joins - report.leaves == report.concurrent + report.resumable)
        // 20 s written before, and since 29 s both of them.
        #expect(report.watchTimeSeconds == 20 + 5 + 5)
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 10).first)
        #expect(broadcast.roomSID == "RM1" && broadcast.ended != nil && broadcast.uniques.devices == 2)
        let sums = try await stand.keeper.sums(of: .broadcast(broadcast.epoch))
        #expect(sums.map(\.joins).reduce(0, +) == 2)
        #expect(sums.flatMap(\.leaves).reduce(0, +) == 2)
        #expect(sums.map(\.watched).reduce(0, +) == 30_000)
        let sessions = try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 10)
        #expect(sessions.count == 2 && sessions.allSatisfy { $0.isClosed && $0.dimensions.rendition == "720p" })
        #expect(try await stand.keeper.settledPeak(epoch: broadcast.epoch)?.viewers == 2)
    }

    @Test("what is counted of no room goes on over a kill too: nobody sees a counter fall")
    func counters() async throws {
        let stand = try HistoryStand()
        func value(_ name: String, _ suffix: String = "") -> Double? {
            let family = stand.ledger.metrics().first { $0.name == name }
            return family?.samples.first { $0.suffix == suffix }?.value
        }
        func play(from begin: Double) {
            let sid = stand.ledger.makeSession(room: "show")
            for second in [0.0, 2, 4] {
                stand.record(sid, .playlistServed, at: begin + second, by: .hls)
                stand.record(sid, .delivered, at: begin + second + 0.5, by: .hls)
            }
        }
        play(from: 0)
        #expect(await stand.write())
        let before = (beats: value("footlight_beats_total"), startups: stand.startups)
        #expect(before.beats == 3 && before.startups.count == 1 && before.startups.sum == 0.5)
        // Not written.
        play(from: 10)
        stand.restart()
        #expect(value("footlight_beats_total") == 3 && stand.startups == before.startups)
        play(from: 20)
        #expect(await stand.write())
        stand.restart()
        #expect(value("footlight_beats_total") == 6)
        #expect(stand.startups.count == 2 && stand.startups.sum == 1)
    }

    @Test("minutes, pages of sessions and the settled peak are read as they were counted")
    func reading() async throws {
        let stand = try HistoryStand()
        let sids = (0..<25).map { stand.watch(from: Double($0) * 2 + 0.1) }
        for second in stride(from: 56.0, through: 130, by: 1) {
            stand.advance(to: second)
            if second == 100 { for sid in sids { stand.record(sid, .closed(.left), at: 100, by: .rtmp) } }
            #expect(await stand.write())
        }
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.peak == 25)
        #expect(try await stand.keeper.settledPeak(epoch: broadcast.epoch)?.viewers == 25)
        let first = Int64(1_800_000_000 / 60)
        let minutes = try await stand.minutes(room: "show", from: first, to: first + 10)
        #expect(Set(minutes.map(\.key.minute)) == [first, first + 1, first + 2])
        #expect(minutes.filter { $0.key.dimensions == nil }.map(\.maximum).max() == 25)
        #expect(minutes.map(\.joins).reduce(0, +) == 25)
        var pages: [[SessionRow]] = []
        var after: (start: Int64, code: UInt64)?
        repeat {
            let page = try await stand.keeper.sessions(epoch: broadcast.epoch, after: after, limit: 10)
            pages.append(page)
            after = page.last.map { ($0.start, $0.code) }
        } while pages.last?.count == 10
        #expect(pages.map(\.count) == [10, 10, 5])
        #expect(Set(pages.joined().map(\.code)).count == 25)
        #expect(pages.joined().map(\.start) == pages.joined().map(\.start).sorted())
    }

    @Test("a damaged database is put aside and the show goes on in another one", arguments: [true, false])
    func damaged(atStart: Bool) async throws {
        let stand = try HistoryStand()
        stand.watch(from: 0)
        #expect(await stand.write())
        await stand.keeper.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: stand.path + suffix) }
        try Data(repeating: 0x5A, count: 40_000).write(to: URL(fileURLWithPath: stand.path))
        if atStart { stand.restart() }
        stand.watch(from: 10)
        stand.advance(to: 16)
        #expect(await stand.write())
        let names = try FileManager.default.contentsOfDirectory(atPath: stand.folder.path)
        #expect(names.contains { $0.contains(".aside-") })
        #expect(stand.keeper.status.asides == 1)
        #expect(stand.ledger.report(room: "show").concurrent == (atStart ? 1 : 2))
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 10).isEmpty == false)
    }

    @Test("while somebody else has the database locked the show goes on, and everything is written afterwards")
    func locked() async throws {
        let stand = try HistoryStand()
        stand.keeper = HistoryKeeper(
            HistoryStoreConfiguration(path: stand.path, lockTimeout: 0.05),
            logger: HistoryStand.logger
        )
        #expect(await stand.write())
        let other = try DatabaseQueue(path: stand.path, configuration: Self.unsafe)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        stand.watch(from: 0)
        #expect(await stand.write() == false)
        stand.watch(from: 6)
        #expect(await stand.write() == false)
        #expect(stand.ledger.report(room: "show").concurrent == 2)
        #expect(stand.keeper.status.failures == 2 && stand.keeper.status.asides == 0)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        stand.advance(to: 12)
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(try await stand.keeper.sums(of: .broadcast(broadcast.epoch)).map(\.joins).reduce(0, +) == 2)
    }

    @Test("a database that stays locked is put aside, and another one begun")
    func lockedForGood() async throws {
        let stand = try HistoryStand()
        stand.keeper = HistoryKeeper(
            HistoryStoreConfiguration(path: stand.path, lockTimeout: 0.02, lockPatience: 0.05),
            logger: HistoryStand.logger
        )
        #expect(await stand.write())
        let other = try DatabaseQueue(path: stand.path, configuration: Self.unsafe)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        stand.watch(from: 0)
        var tries = 0
        while await !stand.write(), tries < 100 {
            tries += 1
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(tries < 100)
        #expect(stand.keeper.status.asides == 1)
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(try await stand.keeper.sums(of: .broadcast(broadcast.epoch)).map(\.joins).reduce(0, +) == 1)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    @Test("a full disk loses no history: the database stays, the count goes on, and all is written when there is room")
    func full() async throws {
        let stand = try HistoryStand()
        // Were it taken for locked it would be put aside at once.
        stand.keeper = HistoryKeeper(
            HistoryStoreConfiguration(path: stand.path, lockTimeout: 0.02, lockPatience: 0),
            logger: HistoryStand.logger
        )
        stand.watch(from: 0)
        stand.advance(to: 8)
        #expect(await stand.write())
        try stand.limitPages(to: 1)
        for _ in 0..<300 { stand.watch(from: 9) }
        for second in stride(from: 15.0, through: 20, by: 1) {
            stand.advance(to: second)
            #expect(await stand.write() == false)
        }
        let status = stand.keeper.status
        #expect(status.failures == 6 && status.asides == 0 && status.dropped == 0)
        #expect(status.waiting > 300)
        #expect(stand.ledger.report(room: "show").concurrent == 301)
        // What was written before can be read all the time.
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(try await stand.keeper.sums(of: .broadcast(broadcast.epoch)).map(\.joins).reduce(0, +) == 1)
        try stand.limitPages(to: 1_000_000)
        stand.advance(to: 21)
        #expect(await stand.write())
        #expect(stand.keeper.status.waiting == 0 && stand.keeper.status.asides == 0)
        #expect(try await stand.keeper.sums(of: .broadcast(broadcast.epoch)).map(\.joins).reduce(0, +) == 301)
        #expect(try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 1000).count == 301)
        let names = try FileManager.default.contentsOfDirectory(atPath: stand.folder.path)
        #expect(!names.contains { $0.contains(".aside-") })
    }

    @Test("sessions are forgotten when their time is over; minutes and broadcasts stay")
    func retention() async throws {
        let stand = try HistoryStand()
        let sid = stand.watch(from: 0)
        stand.record(sid, .closed(.left), at: 20, by: .rtmp)
        stand.advance(to: 60)
        #expect(await stand.write())
        stand.clock.move(to: stand.start.advanced(seconds: 31 * 86_400))
        stand.restart()
        stand.watch(from: 31 * 86_400 + 1)
        #expect(await stand.write())
        let broadcast = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        #expect(try await stand.keeper.sessions(epoch: broadcast.epoch, after: nil, limit: 10).count == 1)
        #expect(try await stand.keeper.sums(of: .broadcast(broadcast.epoch)).map(\.joins).reduce(0, +) == 2)
    }

    @Test("minutes and broadcasts are forgotten when their time is over, if they have one; one that lasts stays whole")
    func minuteRetention() async throws {
        let stand = try HistoryStand()
        stand.ledger.roomBegan("long", sid: "RM2")
        for room in ["show", "long"] { stand.watch(from: 0, room: room) }
        stand.advance(to: 60)
        stand.ledger.roomEnded("show")
        #expect(await stand.write())
        let old = try #require(try await stand.keeper.broadcasts(room: "show", limit: 1).first)
        let long = try #require(try await stand.keeper.broadcasts(room: "long", limit: 1).first)
        let first = Int64(1_800_000_000 / 60)
        func rows(_ room: String) async throws -> Int {
            try await stand.minutes(room: room, from: first, to: first + 10).count
        }
        // Of all rooms together, which is of no broadcast.
        func wholes() async throws -> Int {
            try await stand.minutes(room: nil, from: first, to: first + 10).count { $0.key.dimensions == nil }
        }
        let day = 86_400.0
        var configuration = HistoryStoreConfiguration(path: stand.path, minuteRetention: 10 * day)
        for (passed, isKept) in [(9.0, true), (11, false)] {
            stand.clock.move(to: stand.start.advanced(seconds: passed * day))
            stand.restart(configuration)
            stand.ledger.roomBegan("long", sid: "RM2")
            #expect(await stand.write())
            #expect(try await (rows("show") > 0) == isKept, "after \(passed) days")
            #expect(try await (wholes() > 0) == isKept)
            #expect(try await stand.keeper.sums(of: .broadcast(old.epoch)).isEmpty == !isKept)
            let broadcasts = try await stand.keeper.broadcasts(room: "show", limit: 9)
            #expect(broadcasts.contains { $0.epoch == old.epoch } == isKept)
            #expect(try await rows("long") > 0)
            #expect(try await !stand.keeper.sums(of: .broadcast(long.epoch)).isEmpty)
        }
        // Kept for good, unless it is said otherwise.
        configuration.minuteRetention = 0
        for passed in [5000.0, 5001] {
            stand.clock.move(to: stand.start.advanced(seconds: passed * day))
            stand.restart(configuration)
            stand.ledger.roomEnded("long")
            #expect(await stand.write())
            #expect(try await rows("long") > 0)
        }
    }
}
