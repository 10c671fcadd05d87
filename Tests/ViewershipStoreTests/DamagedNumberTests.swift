import Foundation
import GRDB
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("A history whose numbers are damaged")
struct DamagedNumberTests {
    @Test("is taken up, reported and counted on from, with every number at either end", arguments: [Int64.max, .min])
    func everyNumber(number: Int64) async throws {
        let stand = try HistoryStand()
        await stand.keeper.close()
        try FileManager.default.createDirectory(at: stand.folder, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: stand.path)
        try HistoryDatabase.migrations.migrate(queue)
        try await queue.write { database in
            let counts =
                #"{"startups":{"counts":[\#(Array(repeating: "\(number)", count: 10).joined(separator: ","))],"#
            try database.execute(sql: "DELETE FROM run; DELETE FROM broadcast")
            try database.execute(
                sql: "INSERT INTO run (id, last_seen, counters) VALUES (1, ?, ?)",
                arguments: [number, Data((counts + #""sum":1},"beats":\#(number)}"#).utf8)]
            )
            // Every column that is a number, in each table that is read at the start.
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

        stand.restart()
        stand.advance(to: 30)
        #expect(stand.ledger.takeHistory().count > 0)
        let keeper = stand.keeper
        for row in try await keeper.broadcasts(room: "show", limit: 10) {
            let figures = BroadcastFigures(
                broadcast: row,
                sums: try await keeper.sums(of: .broadcast(row.epoch)),
                now: 1_800_000_000_000
            )
            #expect(figures.average(of: figures.whole).isFinite)
            _ = try await keeper.settledPeaks(of: .broadcast(row.epoch))
        }
        await keeper.close()
    }
}
