import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import Persistence

@Suite("Store connection")
struct StoreConnectionTests {
    private struct Numbers: StoreSchema {
        static let label = "numbers"
        static let content = "numbers"
        static let quarantineWord = "aside"

        let store: StoreDatabase

        static var migrations: DatabaseMigrator {
            var migrator = DatabaseMigrator()
            migrator.registerMigration("1 numbers") { try $0.execute(sql: "CREATE TABLE number (value INTEGER)") }
            return migrator
        }

        func add(_ number: Int) throws(StoreFault) {
            try store.write { try $0.execute(sql: "INSERT INTO number VALUES (?)", arguments: [number]) }
        }

        func all() throws(StoreFault) -> [Int] {
            try store.read { try Int.fetchAll($0, sql: "SELECT value FROM number ORDER BY value") }
        }
    }

    private let folder: TemporaryFolder
    private var path: String { folder.file("numbers.sqlite") }

    init() throws {
        folder = try TemporaryFolder("connection")
    }

    private func connect() -> StoreConnection<Numbers> {
        StoreConnection(path: path, lockTimeout: 0.05, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func add(_ number: Int, by connection: StoreConnection<Numbers>) throws {
        try connection.perform { (numbers) throws(StoreFault) in try numbers.add(number) }
    }

    private func all(by connection: StoreConnection<Numbers>) throws -> [Int] {
        try connection.load { (numbers) throws(StoreFault) in try numbers.all() }
    }

    private func damage() throws {
        for suffix in ["-wal", "-shm"] where FileManager.default.fileExists(atPath: path + suffix) {
            try FileManager.default.removeItem(atPath: path + suffix)
        }
        try Data(repeating: 0xA5, count: 9000).write(to: URL(fileURLWithPath: path))
    }

    @Test("repeats an operation on a new database when the file is damaged or deleted", arguments: [true, false])
    func replaced(isDamaged: Bool) throws {
        let connection = connect()
        try add(1, by: connection)
        #expect(!connection.needsFullWrite)
        if isDamaged {
            connection.close()
            try damage()
        } else {
            try FileManager.default.removeItem(atPath: path)
        }
        try add(2, by: connection)
        #expect(try all(by: connection) == [2])
        #expect(connection.faults.quarantined == (isDamaged ? 1 : 0) && connection.faults.lost == (isDamaged ? 0 : 1))
        #expect(connection.faults.failures == 1 && connection.needsFullWrite)
        connection.fullWriteCompleted()
        #expect(!connection.needsFullWrite)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains { $0.hasPrefix("numbers.sqlite.aside-") } == isDamaged)
    }

    @Test("loads from a new database when the file is damaged")
    func loadsDamaged() throws {
        try damage()
        let connection = connect()
        #expect(try all(by: connection) == [] && connection.faults.quarantined == 1)
    }

    @Test("throws the fault of a locked database, and retains its content")
    func locked() throws {
        let connection = connect()
        try add(1, by: connection)
        let other = try DatabaseQueue(path: path)
        try other.inDatabase { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            #expect(throws: StoreFault.self) { try add(2, by: connection) }
            #expect(throws: StoreFault.self) { try connection.probe() }
            try database.execute(sql: "ROLLBACK")
        }
        try add(3, by: connection)
        #expect(try all(by: connection) == [1, 3])
        #expect(connection.faults.quarantined == 0 && connection.faults.lost == 0 && !connection.needsFullWrite)
    }

    @Test("a full database stays open and readable")
    func full() throws {
        let connection = connect()
        try add(1, by: connection)
        try connection.opened().store.write { try $0.execute(sql: "PRAGMA max_page_count = 1") }
        #expect(throws: StoreFault.self) {
            try connection.perform { (numbers) throws(StoreFault) in for _ in 0..<10_000 { try numbers.add(1) } }
        }
        #expect(try all(by: connection).first == 1)
        #expect(connection.faults.quarantined == 0 && !connection.needsFullWrite)
    }
}
