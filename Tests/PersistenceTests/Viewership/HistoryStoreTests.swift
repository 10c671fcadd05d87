import FootlightTesting
import Foundation
import GRDB
import Media
import Stage
import TestSupport
import Testing
import Viewership

@testable import Persistence

@Suite("History store", .enabled(if: TestRun.isFull))
struct HistoryStoreTests {
    /// Allows a transaction to stay open.
    private static var unsafe: Configuration {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        return configuration
    }

    @Test("F39 G8 a killed gateway loses only unwritten data, doubles no join, and continues its counters")
    func killed() async throws {
        let fixture = try HistoryFixture()
        let sid = fixture.watch(from: 0)
        for second in stride(from: 6.0, through: 20, by: 1) {
            fixture.advance(to: second)
            #expect(await fixture.write())
        }
        // This viewer joins after the last write: it is lost, and found again when its player returns.
        let late = fixture.watch(from: 20.2)
        fixture.advance(to: 28)
        fixture.restart()
        #expect(fixture.ledger.report(room: "show").joins == 1)
        #expect(fixture.ledger.report(room: "show").recovering)
        fixture.record(sid, .opened, at: 29, by: .rtmp)
        fixture.record(late, .opened, at: 29, by: .rtmp)
        fixture.record(late, .watched(since: fixture.start.advanced(seconds: 29)), at: 34, by: .rtmp)
        let report = fixture.ledger.report(room: "show")
        #expect(report.concurrent == 2)
        #expect(report.joins == 2)
        #expect(report.joins - report.leaves == report.concurrent + report.resumable)
        // 20 s were written before, and both watch since 29 s.
        #expect(report.watchTimeSeconds == 20 + 5 + 5)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 10).first)
        #expect(broadcast.roomSID == "RM1" && broadcast.ended != nil && broadcast.uniques.devices == 2)
        let sums = try await fixture.store.sums(of: .broadcast(broadcast.epoch))
        #expect(sums.map(\.counts.joins).reduce(0, +) == 2)
        #expect(sums.map(\.counts.leaves.sum).reduce(0, +) == 2)
        #expect(sums.map(\.counts.watched).reduce(0, +) == 30_000)
        let sessions = try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10)
        #expect(sessions.count == 2 && sessions.allSatisfy { $0.isClosed && $0.dimensions.rendition == "720p" })
        #expect(try await fixture.store.settledPeak(epoch: broadcast.epoch)?.viewers == 2)
    }

    @Test("counters without a room continue across a kill and never decrease")
    func counters() async throws {
        let fixture = try HistoryFixture()
        func value(_ name: String, _ suffix: String = "") -> Double? {
            let family = fixture.ledger.metrics().first { $0.name == name }
            return family?.samples.first { $0.suffix == suffix }?.value
        }
        func play(from begin: Double) {
            let sid = fixture.ledger.makeSession(room: "show")
            for second in [0.0, 2, 4] {
                fixture.record(sid, .playlistServed, at: begin + second, by: .hls)
                fixture.record(sid, .delivered, at: begin + second + 0.5, by: .hls)
            }
        }
        play(from: 0)
        #expect(await fixture.write())
        let before = (beats: value("footlight_beats_total"), startups: fixture.startups)
        #expect(before.beats == 3 && before.startups.count == 1 && before.startups.sum == 0.5)
        // This session is not written.
        play(from: 10)
        fixture.restart()
        #expect(value("footlight_beats_total") == 3 && fixture.startups == before.startups)
        play(from: 20)
        #expect(await fixture.write())
        fixture.restart()
        #expect(value("footlight_beats_total") == 6)
        #expect(fixture.startups.count == 2 && fixture.startups.sum == 1)
    }

    @Test("minutes, pages of sessions and the settled peak are read as they were counted")
    func reading() async throws {
        let fixture = try HistoryFixture()
        let sids = (0..<25).map { fixture.watch(from: Double($0) * 2 + 0.1) }
        for second in stride(from: 56.0, through: 130, by: 1) {
            fixture.advance(to: second)
            if second == 100 { for sid in sids { fixture.record(sid, .closed(.left), at: 100, by: .rtmp) } }
            #expect(await fixture.write())
        }
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.peak == 25)
        #expect(try await fixture.store.settledPeak(epoch: broadcast.epoch)?.viewers == 25)
        let first = Int64(1_800_000_000 / 60)
        let minutes = try await fixture.minutes(room: "show", from: first, to: first + 10)
        #expect(Set(minutes.map(\.key.minute)) == [first, first + 1, first + 2])
        #expect(minutes.filter { $0.key.dimensions == nil }.map(\.maximum).max() == 25)
        #expect(minutes.map(\.counts.joins).reduce(0, +) == 25)
        var pages: [[SessionRow]] = []
        var after: (start: Int64, code: UInt64)?
        repeat {
            let page = try await fixture.store.sessions(epoch: broadcast.epoch, after: after, limit: 10)
            pages.append(page)
            after = page.last.map { ($0.start, $0.code) }
        } while pages.last?.count == 10
        #expect(pages.map(\.count) == [10, 10, 5])
        #expect(Set(pages.joined().map(\.code)).count == 25)
        #expect(pages.joined().map(\.start) == pages.joined().map(\.start).sorted())
    }

    @Test("quarantines a damaged database and continues in a new one", arguments: [true, false])
    func damaged(atStart: Bool) async throws {
        let fixture = try HistoryFixture()
        fixture.watch(from: 0)
        #expect(await fixture.write())
        await fixture.store.close()
        for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: fixture.path + suffix) }
        try Data(repeating: 0x5A, count: 40_000).write(to: URL(fileURLWithPath: fixture.path))
        if atStart { fixture.restart() }
        fixture.watch(from: 10)
        fixture.advance(to: 16)
        #expect(await fixture.write())
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(names.contains { $0.contains(".aside-") })
        #expect(fixture.store.status.quarantined == 1)
        #expect(fixture.ledger.report(room: "show").concurrent == (atStart ? 1 : 2))
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10).isEmpty == false)
    }

    @Test("while another connection holds the lock counting continues, and everything is written afterwards")
    func locked() async throws {
        let fixture = try HistoryFixture()
        fixture.store = HistoryStore(
            HistoryStoreConfiguration(path: fixture.path, lockTimeout: 0.05),
            logger: HistoryFixture.logger
        )
        #expect(await fixture.write())
        let other = try DatabaseQueue(path: fixture.path, configuration: Self.unsafe)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        fixture.watch(from: 0)
        #expect(await fixture.write() == false)
        fixture.watch(from: 6)
        #expect(await fixture.write() == false)
        #expect(fixture.ledger.report(room: "show").concurrent == 2)
        #expect(fixture.store.status.failures == 2 && fixture.store.status.quarantined == 0)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        fixture.advance(to: 12)
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(try await fixture.store.sums(of: .broadcast(broadcast.epoch)).map(\.counts.joins).reduce(0, +) == 2)
    }

    @Test("quarantines a database that stays locked, and creates a new one")
    func lockedForGood() async throws {
        let fixture = try HistoryFixture()
        fixture.store = HistoryStore(
            HistoryStoreConfiguration(path: fixture.path, lockTimeout: 0.02, quarantineTimeout: 0.05),
            logger: HistoryFixture.logger
        )
        #expect(await fixture.write())
        let other = try DatabaseQueue(path: fixture.path, configuration: Self.unsafe)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        fixture.watch(from: 0)
        var tries = 0
        while await !fixture.write(), tries < 100 {
            tries += 1
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(tries < 100)
        #expect(fixture.store.status.quarantined == 1)
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(try await fixture.store.sums(of: .broadcast(broadcast.epoch)).map(\.counts.joins).reduce(0, +) == 1)
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    }

    @Test("a full disk loses no history: the database stays, and all rows are written once there is space")
    func full() async throws {
        let fixture = try HistoryFixture()
        // A database classified as locked would be quarantined at once.
        fixture.store = HistoryStore(
            HistoryStoreConfiguration(path: fixture.path, lockTimeout: 0.02, quarantineTimeout: 0),
            logger: HistoryFixture.logger
        )
        fixture.watch(from: 0)
        fixture.advance(to: 8)
        #expect(await fixture.write())
        try fixture.limitPages(to: 1)
        for _ in 0..<300 { fixture.watch(from: 9) }
        for second in stride(from: 15.0, through: 20, by: 1) {
            fixture.advance(to: second)
            #expect(await fixture.write() == false)
        }
        let status = fixture.store.status
        #expect(status.failures == 6 && status.quarantined == 0 && status.dropped == 0)
        #expect(status.waiting > 300)
        #expect(fixture.ledger.report(room: "show").concurrent == 301)
        // Rows on disk stay readable.
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(try await fixture.store.sums(of: .broadcast(broadcast.epoch)).map(\.counts.joins).reduce(0, +) == 1)
        try fixture.limitPages(to: 1_000_000)
        fixture.advance(to: 21)
        #expect(await fixture.write())
        #expect(fixture.store.status.waiting == 0 && fixture.store.status.quarantined == 0)
        #expect(try await fixture.store.sums(of: .broadcast(broadcast.epoch)).map(\.counts.joins).reduce(0, +) == 301)
        #expect(try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 1000).count == 301)
        let names = try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path)
        #expect(!names.contains { $0.contains(".aside-") })
    }

    @Test("expired sessions are deleted; minutes and broadcasts stay")
    func retention() async throws {
        let fixture = try HistoryFixture()
        let sid = fixture.watch(from: 0)
        fixture.record(sid, .closed(.left), at: 20, by: .rtmp)
        fixture.advance(to: 60)
        #expect(await fixture.write())
        fixture.clock.advance(to: fixture.start.advanced(seconds: 31 * 86_400))
        fixture.restart()
        fixture.watch(from: 31 * 86_400 + 1)
        #expect(await fixture.write())
        let broadcast = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        #expect(try await fixture.store.sessions(epoch: broadcast.epoch, after: nil, limit: 10).count == 1)
        #expect(try await fixture.store.sums(of: .broadcast(broadcast.epoch)).map(\.counts.joins).reduce(0, +) == 2)
    }

    @Test("expired minutes and broadcasts are deleted, if a retention is set; a broadcast in progress stays complete")
    func minuteRetention() async throws {
        let fixture = try HistoryFixture()
        fixture.ledger.roomBegan("long", sid: "RM2")
        for room in ["show", "long"] { fixture.watch(from: 0, room: room) }
        fixture.advance(to: 60)
        fixture.ledger.roomEnded("show")
        #expect(await fixture.write())
        let old = try #require(try await fixture.store.broadcasts(room: "show", limit: 1).first)
        let long = try #require(try await fixture.store.broadcasts(room: "long", limit: 1).first)
        let first = Int64(1_800_000_000 / 60)
        func rows(_ room: String) async throws -> Int {
            try await fixture.minutes(room: room, from: first, to: first + 10).count
        }
        // Counts the rows over all rooms, which belong to no broadcast.
        func wholes() async throws -> Int {
            try await fixture.minutes(room: nil, from: first, to: first + 10).count { $0.key.dimensions == nil }
        }
        let day = 86_400.0
        var configuration = HistoryStoreConfiguration(path: fixture.path, minuteRetention: 10 * day)
        for (passed, isKept) in [(9.0, true), (11, false)] {
            fixture.clock.advance(to: fixture.start.advanced(seconds: passed * day))
            fixture.restart(configuration)
            fixture.ledger.roomBegan("long", sid: "RM2")
            #expect(await fixture.write())
            #expect(try await (rows("show") > 0) == isKept, "after \(passed) days")
            #expect(try await (wholes() > 0) == isKept)
            #expect(try await fixture.store.sums(of: .broadcast(old.epoch)).isEmpty == !isKept)
            let broadcasts = try await fixture.store.broadcasts(room: "show", limit: 9)
            #expect(broadcasts.contains { $0.epoch == old.epoch } == isKept)
            #expect(try await rows("long") > 0)
            #expect(try await !fixture.store.sums(of: .broadcast(long.epoch)).isEmpty)
        }
        // Without a retention they never expire.
        configuration.minuteRetention = 0
        for passed in [5000.0, 5001] {
            fixture.clock.advance(to: fixture.start.advanced(seconds: passed * day))
            fixture.restart(configuration)
            fixture.ledger.roomEnded("long")
            #expect(await fixture.write())
            #expect(try await rows("long") > 0)
        }
    }
}
