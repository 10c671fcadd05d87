import Foundation
import GRDB
import TestSupport
import Testing

@testable import Persistence

@Suite("Store database")
struct StoreDatabaseTests {
    private static let numbers = ["1 numbers"]

    private func open(
        _ folder: TemporaryFolder,
        readers: Int,
        durability: StoreDatabase.Durability = .everyCommit,
        steps: [String] = numbers
    ) throws -> StoreDatabase {
        var migrations = DatabaseMigrator()
        for (index, step) in steps.enumerated() {
            migrations.registerMigration(step) { try $0.execute(sql: "CREATE TABLE number\(index) (value INTEGER)") }
        }
        return try StoreDatabase(
            path: folder.file("store.sqlite"),
            label: "test",
            durability: durability,
            readers: readers,
            lockTimeout: 0.05,
            migrations: migrations
        )
    }

    private func fault(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch StoreFault.damaged {
            return "damaged"
        } catch StoreFault.locked {
            return "locked"
        } catch StoreFault.full {
            return "full"
        } catch StoreFault.unavailable {
            return "unavailable"
        } catch StoreFault.lost {
            return "lost"
        } catch {
            return "\(error)"
        }
    }

    @Test("a second connection reads what was committed without an orderly close", arguments: [0, 2])
    func persists(readers: Int) throws {
        let folder = try TemporaryFolder("store")
        let first = try open(folder, readers: readers)
        try first.write { try $0.execute(sql: "INSERT INTO number0 VALUES (7)") }
        let second = try open(folder, readers: readers)
        #expect(try second.read { try Int.fetchOne($0, sql: "SELECT value FROM number0") } == 7)
        first.close()
        second.close()
    }

    @Test(
        "uses a write-ahead log with the requested synchronous setting",
        arguments: [
            (0, StoreDatabase.Durability.everyCommit, 2), (2, .everyCommit, 2), (0, .checkpoints, 1),
            (2, .checkpoints, 1),
        ]
    )
    func journal(readers: Int, durability: StoreDatabase.Durability, synchronous: Int) throws {
        let folder = try TemporaryFolder("store")
        let database = try open(folder, readers: readers, durability: durability)
        #expect(try database.read { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA synchronous") } == synchronous)
        database.close()
    }

    @Test("a folder, another file, other tables and a later version are damaged", arguments: [0, 2])
    func damaged(readers: Int) throws {
        let folder = try TemporaryFolder("store")
        let path = folder.file("store.sqlite")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(fault { _ = try open(folder, readers: readers) } == "damaged")
        try FileManager.default.removeItem(atPath: path)
        try Data((0..<9000).map { UInt8(truncatingIfNeeded: $0 * 7 + 13) }).write(to: URL(fileURLWithPath: path))
        #expect(fault { _ = try open(folder, readers: readers) } == "damaged")
        let quarantined = try QuarantinedDatabase.move(path, as: "aside", at: Date(timeIntervalSince1970: 5))
        #expect(quarantined == path + ".aside-5" && FileManager.default.fileExists(atPath: quarantined))
        try open(folder, readers: readers, steps: Self.numbers + ["2 more"]).close()
        #expect(fault { _ = try open(folder, readers: readers) } == "damaged")
        _ = try QuarantinedDatabase.move(path, as: "aside", at: Date(timeIntervalSince1970: 6))
        let other = try DatabaseQueue(path: path)
        try other.write { try $0.execute(sql: "CREATE TABLE number0 (other TEXT)") }
        try other.close()
        #expect(fault { _ = try open(folder, readers: readers) } == "damaged")
    }

    @Test("a locked or unreachable database is a transient fault", arguments: [0, 2])
    func unavailable(readers: Int) throws {
        let folder = try TemporaryFolder("store")
        let database = try open(folder, readers: readers)
        let other = try DatabaseQueue(path: folder.file("store.sqlite"))
        let insertion = "INSERT INTO number0 VALUES (1)"
        try other.inDatabase { connection in
            try connection.execute(sql: "BEGIN IMMEDIATE")
            #expect(fault { try database.write { try $0.execute(sql: insertion) } } == "locked")
            try connection.execute(sql: "ROLLBACK")
        }
        #expect(fault { try database.write { try $0.execute(sql: insertion) } } == "none")
        let elsewhere = folder.file("nowhere/store.sqlite")
        let missing = fault {
            _ = try StoreDatabase(
                path: elsewhere,
                label: "test",
                durability: .everyCommit,
                readers: readers,
                lockTimeout: 0.05,
                migrations: DatabaseMigrator()
            )
        }
        #expect(missing == "unavailable")
        database.close()
        try other.close()
    }

    @Test("a full database is told apart from a locked one, and accepts writes once there is space", arguments: [0, 2])
    func full(readers: Int) throws {
        let folder = try TemporaryFolder("store")
        let database = try open(folder, readers: readers)
        let insertion = """
            WITH RECURSIVE made(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM made LIMIT 5000)
            INSERT INTO number0 SELECT value FROM made
            """
        try database.write { try $0.execute(sql: "PRAGMA max_page_count = 1") }
        #expect(fault { try database.write { try $0.execute(sql: insertion) } } == "full")
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM number0") } == 0)
        try database.write { try $0.execute(sql: "PRAGMA max_page_count = 100000") }
        #expect(fault { try database.write { try $0.execute(sql: insertion) } } == "none")
        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM number0") } == 5000)
        database.close()
    }

    @Test("only the latest five quarantined databases are retained")
    func quarantineLimit() throws {
        let folder = try TemporaryFolder("store")
        let path = folder.file("store.sqlite")
        for second in 10..<20 {
            for suffix in ["", "-wal"] { try Data("x".utf8).write(to: URL(fileURLWithPath: path + suffix)) }
            _ = try QuarantinedDatabase.move(path, as: "aside", at: Date(timeIntervalSince1970: Double(second)))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == (15..<20).flatMap { ["store.sqlite.aside-\($0)", "store.sqlite.aside-\($0)-wal"] })
    }

    @Test("files are accessible to their owner only, existing ones included", arguments: [0, 2])
    func permissions(readers: Int) throws {
        let folder = try TemporaryFolder("store")
        func modes() throws -> [Int?] {
            try ["", "-wal", "-shm"].map { suffix in
                let path = folder.file("store.sqlite" + suffix)
                return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            }
        }
        let first = try open(folder, readers: readers)
        try first.write { try $0.execute(sql: "INSERT INTO number0 VALUES (7)") }
        #expect(try modes() == [0o600, 0o600, 0o600])
        for suffix in ["", "-wal", "-shm"] {
            let path = folder.file("store.sqlite" + suffix)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        let second = try open(folder, readers: readers)
        #expect(try modes() == [0o600, 0o600, 0o600])
        first.close()
        second.close()
    }

    @Test("a write to a deleted, replaced or overwritten file fails", arguments: [0, 2])
    func lostFile(readers: Int) throws {
        func insert(_ store: StoreDatabase) -> String {
            fault { try store.write { try $0.execute(sql: "INSERT INTO number0 VALUES (7)") } }
        }
        for (damage, expected) in [("nothing", "none"), ("delete", "lost"), ("replace", "lost"), ("noise", "damaged")] {
            let folder = try TemporaryFolder("store")
            let path = folder.file("store.sqlite")
            let store = try open(folder, readers: readers)
            #expect(insert(store) == "none")
            switch damage {
            case "delete": try FileManager.default.removeItem(atPath: path)
            case "replace":
                try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
                try FileManager.default.copyItem(atPath: path + ".old", toPath: path)
            case "noise":
                let file = try #require(FileHandle(forWritingAtPath: path))
                try file.write(contentsOf: Data(repeating: 0xA5, count: 20_000))
                try file.close()
            default: break
            }
            #expect(fault { try store.probe() } == expected, "\(damage)")
            #expect(insert(store) == expected, "\(damage)")
            store.close()
        }
    }

    @Test("a probe reports the lock of another connection, and changes nothing")
    func probe() throws {
        let folder = try TemporaryFolder("store")
        let store = try open(folder, readers: 0)
        let other = try open(folder, readers: 0)
        try other.write { database in
            try database.execute(sql: "INSERT INTO number0 VALUES (1)")
            #expect(fault { try store.probe() } == "locked")
        }
        #expect(fault { try store.probe() } == "none")
        #expect(try store.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM number0") } == 1)
        store.close()
        other.close()
    }
}
