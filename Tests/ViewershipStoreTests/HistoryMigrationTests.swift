import Foundation
import GRDB
import Stage
import Testing
import Viewership

@testable import ViewershipStore

@Suite("A history of an earlier version")
struct HistoryMigrationTests {
    /// A broadcast that lasts, with a viewer who watches and one who has left, as the second version wrote them.
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

    @Test("what it lacks is made up: how far a time is told, the one rendition that was kept, the time on the air")
    func older() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path + "/viewership.sqlite"
        try await write(to: path)
        let keeper = HistoryKeeper(HistoryStoreConfiguration(path: path), logger: HistoryStand.logger)
        let open = try #require(keeper.load().sessions.first)
        #expect(open.watchedUntil == 3000 && open.poll == 0 && open.renditions == ["720p"] && open.bytes == 0)
        var later = open
        later.renditions = ["720p", "", "360p"]
        later.bytes = 5_000_000_000
        later.watchedUntil = nil
        later.poll = 2000
        var batch = HistoryBatch(asOf: 61_000)
        batch.sessions[later.code] = later
        #expect(await keeper.write(batch))
        let rows = try await keeper.sessions(epoch: 7, after: nil, limit: 10)
        #expect(rows.map(\.renditions) == [["720p", "", "360p"], ["360p"]])
        #expect(rows.map(\.bytes) == [5_000_000_000, 0] && rows.map(\.poll) == [2000, 0])
        #expect(rows[0] == later)
        // All that was watched is taken to have been on the air, and each minute that is whole.
        #expect(try await keeper.sums(of: .broadcast(7)).map(\.aired) == [8000])
        // Nobody was missed that it knew of, and the waits of the broadcast are those of whoever watched most.
        let broadcast = try #require(try await keeper.broadcasts(room: "show", limit: 1).first)
        #expect(broadcast.unseen == 0)
        let sum = try #require(try await keeper.sums(of: .broadcast(7)).first)
        #expect(sum.stalled == 700 && sum.startup == 900 && sum.startups == 2)
        await keeper.close()
    }
}
