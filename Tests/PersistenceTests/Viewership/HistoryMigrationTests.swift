import Foundation
import GRDB
import Stage
import Testing
import Viewership

@testable import Persistence

@Suite("Migration of the history")
struct HistoryMigrationTests {
    /// Writes a broadcast in progress, with a live viewer and one that has left, in the schema of the second version.
    private func write(to path: String) async throws {
        let queue = try DatabaseQueue(path: path)
        try HistoryDatabase.migrations.migrate(queue, upTo: "2 estimates and reports")
        try await queue.write { database in
            try database.execute(
                sql: """
                    INSERT INTO run VALUES (1, 60000);
                    INSERT INTO broadcast (epoch, room, room_sid, began, on_air, peak, users, devices, estimated,
                    approximate, stalled, startup, startups, excluded) VALUES (7, 'show', 'RM1', 0, 0, 2, 0, 2, 0, 0, 700, 900, 2,
                    '0 0 0 0 0 0');
                    INSERT INTO session (code, began, shard, epoch, ended, watched, stalled, protocol, rendition, region,
                    client, switches, is_user, reason, closed) VALUES
                    (1, 1000, 0, 7, NULL, 2000, 0, 'hls', '720p', '', 'web', 0, 0, NULL, 0),
                    (2, 1000, 0, 7, 9000, 8000, 0, 'hls', '360p', '', 'web', 0, 0, 'left', 1);
                    INSERT INTO minute VALUES
                    ('show', 7, 0, 'hls', '360p', '', 'web', 8000, 2, 1, 0, 0, 0, 0, 0, 0, 2, 1),
                    ('show', 7, 0, '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1),
                    ('show', 7, 1, '', '', '', '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 1);
                    """
            )
        }
        try queue.close()
    }

    @Test("fills in the completeness of watch time, the rendition list and the time on air")
    func older() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/viewership.sqlite"
        try await write(to: path)
        let store = HistoryStore(HistoryStoreConfiguration(path: path), logger: HistoryFixture.logger)
        let open = try #require(store.load().sessions.first)
        #expect(open.watchedUntil == 3000 && open.poll == 0 && open.renditions == ["720p"] && open.bytes == 0)
        var later = open
        later.renditions = ["720p", "", "360p"]
        later.bytes = 5_000_000_000
        later.watchedUntil = nil
        later.poll = 2000
        var batch = HistoryBatch(asOf: 61_000)
        batch.sessions[later.code] = later
        #expect(await store.write(batch))
        let rows = try await store.sessions(epoch: 7, after: nil, limit: 10)
        #expect(rows.map(\.renditions) == [["720p", "", "360p"], ["360p"]])
        #expect(rows.map(\.bytes) == [5_000_000_000, 0] && rows.map(\.poll) == [2000, 0])
        #expect(rows[0] == later)
        // All watch time counts as on air, and so does each whole minute.
        #expect(try await store.sums(of: .broadcast(7)).map(\.aired) == [8000])
        // Unused ids are unknown; stalls go to the minute that was watched most.
        let broadcast = try #require(try await store.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.unusedIDs == 0)
        let sum = try #require(try await store.sums(of: .broadcast(7)).first)
        #expect(sum.counts.stalled == 700 && sum.counts.startup == 900 && sum.counts.startups == 2)
        await store.close()
    }

    @Test("stores how long viewers stayed of the broadcasts whose playbacks are all there, and of no other")
    func retention() async throws {
        let fixture = try HistoryFixture()
        await fixture.store.close()
        let queue = try DatabaseQueue(path: fixture.path)
        try HistoryDatabase.migrations.migrate(queue, upTo: "11 sessions that logs tell of")
        let day: Int64 = 86_400_000
        try await queue.write { database in
            func broadcast(_ epoch: Int64, began: Int64, joins: Int, sessions: Int) throws {
                try database.execute(
                    sql: """
                        INSERT INTO broadcast (epoch, room, room_sid, began, ended, on_air, peak, users, devices, estimated,
                        approximate, excluded) VALUES (?, 'weekly', 'RM9', ?, ?, 0, 2, 0, 2, 0, 0, '0')
                        """,
                    arguments: [epoch, began, began + 60_000]
                )
                try database.execute(
                    sql: """
                        INSERT INTO minute (room, epoch, minute, protocol, rendition, region, client, watched, joins, gone,
                        timed_out, too_slow, room_ended, shutdown, switches, least, most, last)
                        VALUES ('weekly', ?, ?, 'hls', '', '', 'web', 0, ?, 0, 0, 0, 0, 0, 0, 0, 0, 0)
                        """,
                    arguments: [epoch, began / 60_000, joins]
                )
                for code in 0..<sessions {
                    try database.execute(
                        sql: """
                            INSERT INTO session (code, began, shard, epoch, ended, watched, stalled, protocol, rendition,
                            region, client, switches, is_user, reason, closed)
                            VALUES (?, ?, 0, ?, ?, 0, 0, 'hls', '', '', 'web', 0, 0, 'left', 1)
                            """,
                        arguments: [epoch * 100 + Int64(code), began, epoch, began + 30_000]
                    )
                }
            }
            try database.execute(sql: "INSERT INTO run (id, last_seen) VALUES (1, ?)", arguments: [40 * day])
            try broadcast(1, began: 5 * day, joins: 4, sessions: 0)
            try broadcast(2, began: 10 * day, joins: 4, sessions: 2)
            try broadcast(3, began: 12 * day, joins: 4, sessions: 4)
            try broadcast(4, began: 39 * day, joins: 4, sessions: 4)
        }
        try queue.close()
        let store = HistoryStore(HistoryStoreConfiguration(path: fixture.path), logger: HistoryFixture.logger)
        _ = store.load()
        func watching(_ epoch: Int64) async throws -> [Int]? {
            let broadcasts = try await store.broadcasts(room: "weekly", limit: 10)
            let broadcast = try #require(broadcasts.first { $0.epoch == epoch })
            return try await store.retention(of: broadcast, until: broadcast.ended ?? 0, step: 20_000)?
                .points.map(\.watching)
        }
        // The first write deletes what has expired.
        #expect(await store.write(HistoryBatch(asOf: 43 * day)))
        #expect(try await store.sessions(epoch: 3, after: nil, limit: 10).isEmpty)
        #expect(try await watching(1) == nil)
        #expect(try await watching(2) == nil)
        #expect(try await watching(3) == [4, 4, 0, 0])
        #expect(try await watching(4) == [4, 4, 0, 0])
        await store.close()
    }
}

@Suite("A history with damaged numbers")
struct DamagedNumberTests {
    @Test("is restored, reported and continued with every number at its limit", arguments: [Int64.max, .min])
    func everyNumber(number: Int64) async throws {
        let fixture = try HistoryFixture()
        await fixture.store.close()
        try FileManager.default.createDirectory(at: fixture.folder, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: fixture.path)
        try HistoryDatabase.migrations.migrate(queue)
        try await queue.write { database in
            let counts =
                #"{"startups":{"counts":[\#(Array(repeating: "\(number)", count: 10).joined(separator: ","))],"#
            try database.execute(sql: "DELETE FROM run; DELETE FROM broadcast")
            try database.execute(
                sql: "INSERT INTO run (id, last_seen, counters) VALUES (1, ?, ?)",
                arguments: [number, Data((counts + #""sum":1},"beats":\#(number)}"#).utf8)]
            )
            // Every numeric column of each table that is read at startup.
            for (table, texts) in [
                ("broadcast", ["room": "'show'", "room_sid": "'RM1'", "ended": "NULL", "excluded": "'\(number) 1'"]),
                (
                    "minute",
                    ["room": "'show'", "protocol": "'hls'", "rendition": "''", "region": "''", "client": "'web'"]
                ),
                (
                    "session",
                    [
                        "protocol": "'hls'", "rendition": "''", "region": "''", "client": "'web'", "reason": "NULL",
                        "renditions": "NULL", "closed": "0", "ended": "NULL", "shard": "0", "place": "0",
                    ]
                ), ("gap", [:]), ("last_hit", ["ages": "x'0102'", "shard": "0"]), ("seen", [:]),
            ] as [(String, [String: String])] {
                let columns = try database.columns(in: table).map(\.name)
                let values = columns.map { texts[$0] ?? "\(number)" }
                try database.execute(
                    sql:
                        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")))"
                )
            }
        }
        try queue.close()

        fixture.restart()
        fixture.advance(to: 30)
        #expect(fixture.ledger.drainHistory().count > 0)
        let store = fixture.store
        for row in try await store.broadcasts(room: "show", limit: 10) {
            let figures = BroadcastFigures(
                broadcast: row,
                sums: try await store.sums(of: .broadcast(row.epoch)),
                now: 1_800_000_000_000
            )
            #expect(figures.average(of: figures.whole).isFinite)
            _ = try await store.settledPeaks(of: .broadcast(row.epoch))
        }
        await store.close()
    }
}
