import Foundation
import GRDB
import Stage
import TestSupport
import Testing

@testable import Persistence

@Suite("Room database in SQLite")
struct RoomDatabaseTests {
    private func open(_ folder: TemporaryFolder) throws -> RoomDatabase {
        try RoomDatabase(path: folder.database, lockTimeout: 0.05)
    }

    private func save(_ sids: [String], in database: RoomDatabase) throws {
        let rooms = sids.map { sid in
            StoredRoom(sid: sid, name: "show", status: "in-progress", updatedAt: 1, endedAt: nil, record: "{}")
        }
        try database.save(RoomChanges(rooms: rooms))
    }

    @Test("uses a write-ahead log that is synced at each commit")
    func journal() throws {
        let folder = try TemporaryFolder()
        let database = try open(folder)
        try save(["RM1"], in: database)
        #expect(try folder.names() == ["rooms.sqlite", "rooms.sqlite-shm", "rooms.sqlite-wal"])
        let modes = try database.store.read { connection in
            try ["journal_mode", "synchronous"].map { try String.fetchOne(connection, sql: "PRAGMA \($0)") }
        }
        #expect(modes == ["wal", "2"])
    }

    @Test("a file of another format is damaged", arguments: [16, 4096, 100_000])
    func notADatabase(size: Int) throws {
        let folder = try TemporaryFolder()
        try Data((0..<size).map { UInt8(truncatingIfNeeded: $0 * 7 + 13) }).write(
            to: URL(fileURLWithPath: folder.database)
        )
        #expect(fault { try open(folder) } == "damaged")
    }

    @Test("a file with overwritten pages is damaged")
    func overwritten() throws {
        let folder = try TemporaryFolder()
        let database = try open(folder)
        try save((1...2000).map { "RM\($0)" }, in: database)
        database.close()
        let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
        try file.seek(toOffset: 8192)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 40_000))
        try file.close()
        #expect(fault { try open(folder).load() } == "damaged")
    }

    @Test("a database with other tables or of a later version is damaged")
    func otherTables() throws {
        let folder = try TemporaryFolder()
        let other = try DatabaseQueue(path: folder.database)
        try other.write { try $0.execute(sql: "CREATE TABLE room (something TEXT)") }
        try other.close()
        #expect(fault { try open(folder) } == "damaged")

        let later = try TemporaryFolder()
        try open(later).close()
        let queue = try DatabaseQueue(path: later.database)
        try queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99 rooms on the moon')") }
        try queue.close()
        #expect(fault { try open(later) } == "damaged")
    }

    @Test("a locked or unreachable database is a transient fault")
    func unavailable() throws {
        let folder = try TemporaryFolder()
        let database = try open(folder)
        try save(["RM1"], in: database)
        let other = try DatabaseQueue(path: folder.database)
        try other.inDatabase { connection in
            try connection.execute(sql: "BEGIN IMMEDIATE")
            #expect(fault { try save(["RM2"], in: database) } == "locked")
            try connection.execute(sql: "ROLLBACK")
        }
        try save(["RM2"], in: database)
        #expect(
            fault { try RoomDatabase(path: folder.path + "/nowhere/rooms.sqlite", lockTimeout: 0.05) }
                == "unavailable"
        )
    }

    private func fault<Outcome>(_ body: () throws -> Outcome) -> String {
        do {
            _ = try body()
            return "none"
        } catch StoreFault.damaged {
            return "damaged"
        } catch StoreFault.locked {
            return "locked"
        } catch StoreFault.unavailable {
            return "unavailable"
        } catch {
            return "\(error)"
        }
    }
}

@Suite("Stored rooms with damaged numbers")
struct DamagedRecordTests {
    @Test(
        "are rejected one by one",
        arguments: [
            (#""revision":\d+"#, #""revision":18446744073709551615"#),
            (#""keyInterval":\d+"#, #""keyInterval":9223372036854775807"#),
            (#""numerator":\d+"#, #""numerator":0"#), (#""denominator":\d+"#, #""denominator":0"#),
            (#""width":\d+"#, #""width":9223372036854775807"#), (#""createdAt":[\d.]+"#, #""createdAt":1e308"#),
            (#""maximumHosts":\d+"#, #""maximumHosts":-1"#),
        ]
    )
    func numbers(pattern: String, damage: String) throws {
        let directory = RoomDirectory(pepper: [1, 2, 3])
        let room = try directory.create(RoomSettings(name: "show"))
        let record = try #require(directory.record(of: room.sid))
        var stored = try StoredRoom(record)
        #expect(try stored.decoded() == record)
        let text = stored.record.replacing(try Regex(pattern), with: damage)
        #expect(text != stored.record)
        stored.record = text
        #expect(throws: (any Error).self) { try stored.decoded() }
    }
}

extension TemporaryFolder {
    var database: String { file("rooms.sqlite") }

    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }
}
