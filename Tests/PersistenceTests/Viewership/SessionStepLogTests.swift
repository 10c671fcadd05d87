import FootlightTesting
import Foundation
import Logging
import Media
import Stage
import TestSupport
import Testing
import Viewership

@testable import Persistence

@Suite("Session step log", .enabled(if: TestRun.isFull))
struct SessionStepLogTests {
    private static func step(_ number: Int, _ kind: SessionStep.Kind = .proven) -> SessionStep {
        SessionStep(
            kind: kind,
            code: UInt64(number) &* 0x9E37_79B9_7F4A_7C15,
            shard: UInt8(number % 16),
            epoch: 1_800_000_000_000,
            dimensions: Dimensions(
                playback: PlaybackProtocol.allCases[number % PlaybackProtocol.allCases.count],
                rendition: number % 3 == 0 ? "" : "\(number % 3 * 360)p",
                region: ["", "DE", "DE-BW of twenty-four byte"][number % 3].prefix(24).description,
                client: ClientClass.allCases[number % ClientClass.allCases.count]
            ),
            viewer: number % 2 == 0 ? UInt64(number) : nil,
            isUser: number % 4 == 0,
            estimate: number % 5 == 0 ? UInt64(number) << 32 : nil,
            isLogged: number % 7 == 0,
            start: 1_800_000_000_000 + Int64(number),
            at: 1_800_000_005_000 + Int64(number)
        )
    }

    private static func withLog(_ body: (_ path: String, _ log: inout SessionStepLog) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("steps-\(UUID().uuidString)").path
        // A file that remains is harmless.
        defer { try? FileManager.default.removeItem(atPath: path) }
        var log = try #require(SessionStepLog(path: path))
        defer { log.close() }
        try body(path, &log)
    }

    @Test("reads back what was written, from a given time on")
    func roundTrip() throws {
        try Self.withLog { path, log in
            let steps = (0..<100).map { Self.step($0, SessionStep.Kind(rawValue: UInt8($0 % 5 + 1)) ?? .opened) }
            let writes = [
                log.write(aliveUntil: 17, Array(steps.prefix(40))),
                log.write(aliveUntil: 1_800_000_006_000, Array(steps.dropFirst(40))),
            ]
            #expect(writes == [true, true])
            let all = try #require(SessionStepLog.read(path: path, from: 0))
            #expect(all.livedUntil == 1_800_000_006_000 && all.steps == steps)
            let late = try #require(SessionStepLog.read(path: path, from: 1_800_000_005_090))
            #expect(late.steps == Array(steps.suffix(10)))
        }
    }

    @Test("wraps around: the file size is constant, and the latest steps are in it")
    func round() throws {
        try Self.withLog { path, log in
            let count = SessionStepLog.capacity + 1000
            for first in stride(from: 0, to: count, by: 7777) {
                let isWritten = log.write(aliveUntil: 1, (first..<min(count, first + 7777)).map { Self.step($0) })
                #expect(isWritten)
            }
            let found = try #require(SessionStepLog.read(path: path, from: 0))
            #expect(found.steps == (1000..<count).map { Self.step($0) })
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect(size == 16 + SessionStepLog.capacity * 112)
        }
    }

    @Test("skips a damaged entry; a damaged header invalidates the log")
    func damaged() throws {
        try Self.withLog { path, log in
            let isWritten = log.write(aliveUntil: 1_800_000_006_000, (0..<3).map { Self.step($0) })
            #expect(isWritten)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.seek(toOffset: 16 + 112 + 20)
            try file.write(contentsOf: Data([0xFF]))
            #expect(SessionStepLog.read(path: path, from: 0)?.steps == [Self.step(0), Self.step(2)])
            try file.truncate(atOffset: 16 + 112 * 2 + 30)
            #expect(SessionStepLog.read(path: path, from: 0)?.steps == [Self.step(0)])
            try file.seek(toOffset: 3)
            try file.write(contentsOf: Data([0xFF]))
            #expect(SessionStepLog.read(path: path, from: 0) == nil)
            try file.close()
        }
    }

    @Test(
        "a session that qualified after the last write keeps its join across a kill"
    )
    func store() async throws {
        let fixture = try HistoryFixture()
        let first = fixture.watch(from: 1)
        fixture.advance(to: 10)
        #expect(await fixture.write())
        let second = fixture.watch(from: 5.3)
        #expect(fixture.ledger.report(room: fixture.room).joins == 2)
        fixture.store.writeSteps(of: fixture.ledger)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 11.5))
        fixture.restart()
        let found = fixture.ledger.report(room: fixture.room)
        #expect(found.joins == 2 && found.resumable == 2 && found.uniques.devices == 2, "\(found)")
        // Up to the declared time: 10.3 s, and the lead.
        #expect(abs(found.watchTimeSeconds - (9.4 + 5.1)) < 0.01, "\(found.watchTimeSeconds)")
        for sid in [first, second] { fixture.record(sid, .opened, at: 12, by: .rtmp) }
        fixture.advance(to: 20)
        let last = fixture.ledger.report(room: fixture.room)
        #expect(last.joins == 2 && last.concurrent == 2 && last.leaves == 0)
        #expect(await fixture.write())
    }

    @Test("an HLS player with one request before a kill counts from that first playlist")
    func asked() async throws {
        let fixture = try HistoryFixture()
        fixture.watch(from: 1)
        fixture.advance(to: 10)
        #expect(await fixture.write())
        let sid = fixture.ledger.makeSession(room: fixture.room)
        fixture.record(sid, .playlistServed, at: 10.2, by: .hls)
        fixture.store.writeSteps(of: fixture.ledger)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 11.5))
        fixture.restart()
        #expect(fixture.ledger.report(room: fixture.room).joins == 1)
        fixture.record(sid, .playlistServed, at: 12.4, by: .hls)
        fixture.advance(to: 14)
        let report = fixture.ledger.report(room: fixture.room)
        #expect(report.joins == 2 && report.byProtocol[.hls] == 1, "\(report)")
        #expect(await fixture.write())
        let epoch = try #require(try await fixture.store.broadcasts(room: fixture.room, limit: 1).first).epoch
        let rows = try await fixture.store.sessions(epoch: epoch, after: nil, limit: 10)
        let row = try #require(rows.first { $0.dimensions.playback == .hls })
        #expect(row.watched == 2200 && row.dimensions.rendition == "720p", "\(row)")
    }

    @Test("a session that qualified after the last write keeps its device, region and client across a kill")
    func proven() async throws {
        let fixture = try HistoryFixture()
        var request = PlayerRequest(userAgent: "AppleCoreMedia/1.0.0.21F90 (iPhone)", address: "192.0.2.1")
        request.device = "0123456789abcdef0123456789abcdef"
        request.region = "DE"
        func admit() -> String? {
            guard case .viewer(let sid) = fixture.ledger.admit(request, to: fixture.room) else { return nil }
            return sid
        }
        let first = try #require(admit())
        fixture.record(first, .playlistServed, at: 1, by: .hls)
        fixture.record(first, .playlistServed, at: 3.2, by: .hls)
        fixture.advance(to: 10)
        #expect(await fixture.write())
        let second = try #require(admit())
        fixture.record(second, .playlistServed, at: 10.1, by: .hls)
        fixture.record(second, .playlistServed, at: 12.2, by: .hls)
        fixture.store.writeSteps(of: fixture.ledger)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 12.9))
        fixture.restart()
        let report = fixture.ledger.report(room: fixture.room)
        #expect(report.joins == 2 && report.uniques.devices == 1, "\(report)")
        #expect(report.byClient[.ios] == 2 && report.byRegion == ["DE": 2], "\(report)")
    }

    @Test("an orderly exit leaves no steps for the next run")
    func closed() async throws {
        let fixture = try HistoryFixture()
        fixture.watch(from: 1)
        fixture.advance(to: 10)
        fixture.store.writeSteps(of: fixture.ledger)
        #expect(await fixture.write())
        await fixture.store.close()
        #expect(SessionStepLog.read(path: fixture.path + ".steps", from: 0) == nil)
        fixture.clock.advance(to: fixture.start.advanced(seconds: 30))
        fixture.restart()
        #expect(fixture.ledger.report(room: fixture.room).watchTimeSeconds == 9)
    }

    @Test("the store continues without a log that cannot be written")
    func unwritable() async throws {
        let fixture = try HistoryFixture()
        try FileManager.default.createDirectory(atPath: fixture.path + ".steps", withIntermediateDirectories: true)
        fixture.watch(from: 1)
        fixture.advance(to: 10)
        fixture.store.writeSteps(of: fixture.ledger)
        #expect(await fixture.write())
        fixture.restart()
        #expect(fixture.ledger.report(room: fixture.room).joins == 1)
    }
}
