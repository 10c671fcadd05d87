import Foundation
import Logging
import Media
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("The log of the latest steps of sessions")
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
        // A file that stays is no harm.
        defer { try? FileManager.default.removeItem(atPath: path) }
        var log = try #require(SessionStepLog(path: path))
        defer { log.close() }
        try body(path, &log)
    }

    @Test("what was written is read again, from the moment that is asked for")
    func roundTrip() throws {
        try Self.withLog { path, log in
            let steps = (0..<100).map { Self.step($0, SessionStep.Kind(rawValue: UInt8($0 % 5 + 1)) ?? .opened) }
            let writes = [
                log.write(livesUntil: 17, Array(steps.prefix(40))),
                log.write(livesUntil: 1_800_000_006_000, Array(steps.dropFirst(40))),
            ]
            #expect(writes == [true, true])
            let all = try #require(SessionStepLog.read(path: path, from: 0))
            #expect(all.livedUntil == 1_800_000_006_000 && all.steps == steps)
            let late = try #require(SessionStepLog.read(path: path, from: 1_800_000_005_090))
            #expect(late.steps == Array(steps.suffix(10)))
        }
    }

    @Test("it goes round: the file stays as large as it is, and the latest steps are in it")
    func round() throws {
        try Self.withLog { path, log in
            let count = SessionStepLog.capacity + 1000
            for first in stride(from: 0, to: count, by: 7777) {
                let isWritten = log.write(livesUntil: 1, (first..<min(count, first + 7777)).map { Self.step($0) })
                #expect(isWritten)
            }
            let found = try #require(SessionStepLog.read(path: path, from: 0))
            #expect(found.steps == (1000..<count).map { Self.step($0) })
            let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            #expect(size == 16 + SessionStepLog.capacity * 112)
        }
    }

    @Test("an entry that is damaged is passed over, and a header that is says that nobody lived")
    func damaged() throws {
        try Self.withLog { path, log in
            let isWritten = log.write(livesUntil: 1_800_000_006_000, (0..<3).map { Self.step($0) })
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
        "a viewer proven behind the last write keeps its join when the process is killed, and none when it is not there"
    )
    func keeper() async throws {
        let stand = try HistoryStand()
        let first = stand.watch(from: 1)
        stand.advance(to: 10)
        #expect(await stand.write())
        let second = stand.watch(from: 5.3)
        #expect(stand.ledger.report(room: stand.room).joins == 2)
        stand.keeper.writeSteps(of: stand.ledger)
        stand.clock.move(to: stand.start.advanced(seconds: 11.5))
        stand.restart()
        let found = stand.ledger.report(room: stand.room)
        #expect(found.joins == 2 && found.resumable == 2 && found.uniques.devices == 2, "\(found)")
        // To the last sign of life: 10.3 s, and what it is ahead.
        #expect(abs(found.watchTimeSeconds - (9.4 + 5.1)) < 0.01, "\(found.watchTimeSeconds)")
        for sid in [first, second] { stand.record(sid, .opened, at: 12, by: .rtmp) }
        stand.advance(to: 20)
        let last = stand.ledger.report(room: stand.room)
        #expect(last.joins == 2 && last.concurrent == 2 && last.leaves == 0)
        #expect(await stand.write())
    }

    @Test("a player by HLS who had asked once when the process was killed counts from that first playlist")
    func asked() async throws {
        let stand = try HistoryStand()
        stand.watch(from: 1)
        stand.advance(to: 10)
        #expect(await stand.write())
        let sid = stand.ledger.makeSession(room: stand.room)
        stand.record(sid, .playlistServed, at: 10.2, by: .hls)
        stand.keeper.writeSteps(of: stand.ledger)
        stand.clock.move(to: stand.start.advanced(seconds: 11.5))
        stand.restart()
        #expect(stand.ledger.report(room: stand.room).joins == 1)
        stand.record(sid, .playlistServed, at: 12.4, by: .hls)
        stand.advance(to: 14)
        let report = stand.ledger.report(room: stand.room)
        #expect(report.joins == 2 && report.byProtocol[.hls] == 1, "\(report)")
        #expect(await stand.write())
        let epoch = try #require(try await stand.keeper.broadcasts(room: stand.room, limit: 1).first).epoch
        let rows = try await stand.keeper.sessions(epoch: epoch, after: nil, limit: 10)
        let row = try #require(rows.first { $0.dimensions.playback == .hls })
        #expect(row.watched == 2200 && row.dimensions.rendition == "720p", "\(row)")
    }

    @Test("who is proven behind the last write is the same device, in the same place, when the process was killed")
    func proven() async throws {
        let stand = try HistoryStand()
        var request = PlayerRequest(userAgent: "AppleCoreMedia/1.0.0.21F90 (iPhone)", address: "192.0.2.1")
        request.device = "0123456789abcdef0123456789abcdef"
        request.region = "DE"
        func admit() -> String? {
            guard case .viewer(let sid) = stand.ledger.admit(request, to: stand.room) else { return nil }
            return sid
        }
        let first = try #require(admit())
        stand.record(first, .playlistServed, at: 1, by: .hls)
        stand.record(first, .playlistServed, at: 3.2, by: .hls)
        stand.advance(to: 10)
        #expect(await stand.write())
        let second = try #require(admit())
        stand.record(second, .playlistServed, at: 10.1, by: .hls)
        stand.record(second, .playlistServed, at: 12.2, by: .hls)
        stand.keeper.writeSteps(of: stand.ledger)
        stand.clock.move(to: stand.start.advanced(seconds: 12.9))
        stand.restart()
        let report = stand.ledger.report(room: stand.room)
        #expect(report.joins == 2 && report.uniques.devices == 1, "\(report)")
        #expect(report.byClient[.ios] == 2 && report.byRegion == ["DE": 2], "\(report)")
    }

    @Test("a process that ends in order leaves no steps for the next one")
    func closed() async throws {
        let stand = try HistoryStand()
        stand.watch(from: 1)
        stand.advance(to: 10)
        stand.keeper.writeSteps(of: stand.ledger)
        #expect(await stand.write())
        await stand.keeper.close()
        #expect(SessionStepLog.read(path: stand.path + ".steps", from: 0) == nil)
        stand.clock.move(to: stand.start.advanced(seconds: 30))
        stand.restart()
        #expect(stand.ledger.report(room: stand.room).watchTimeSeconds == 9)
    }

    @Test("where the log cannot be written the keeper goes on without it")
    func unwritable() async throws {
        let stand = try HistoryStand()
        try FileManager.default.createDirectory(atPath: stand.path + ".steps", withIntermediateDirectories: true)
        stand.watch(from: 1)
        stand.advance(to: 10)
        stand.keeper.writeSteps(of: stand.ledger)
        #expect(await stand.write())
        stand.restart()
        #expect(stand.ledger.report(room: stand.room).joins == 1)
    }
}
