import FootlightTesting
import Foundation
import GRDB
import Logging
import Stage
import TestSupport
import Testing

@testable import Persistence

/// Further tests, of any database, are those of `StorageTests`.
@Suite("Room store in SQLite", .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct RoomStoreTests {
    private let folder: TemporaryFolder
    private let directory = RoomDirectory(settings: StageSettings(maximumRooms: 400), pepper: [1, 2, 3])

    init() throws {
        folder = try TemporaryFolder()
    }

    private func makeStore(_ directory: RoomDirectory? = nil, writeDelay: Double = 0.02) -> RoomStore {
        let configuration = RoomStoreConfiguration(
            writeDelay: writeDelay,
            initialRetryDelay: 0.02,
            maximumRetryDelay: 0.1
        )
        return RoomStore(
            configuration,
            path: folder.database,
            lockTimeout: 0.05,
            source: directory ?? self.directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func quarantinedFiles() throws -> [String] {
        try folder.names().filter { $0.contains(".damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    @Test("of two rooms in progress with one name the older is not loaded, and is deleted")
    func duplicateNames() async throws {
        let store = makeStore()
        let older = try directory.create(RoomSettings(name: "show"))
        store.markChanged(room: older.sid)
        // The end of the room is not marked as a change.
        #expect(await store.flush(within: 10))
        try directory.end(room: "show")
        let newer = try directory.create(RoomSettings(name: "show"))
        store.markChanged(room: newer.sid)
        #expect(await store.close(within: 10))

        let after = RoomDirectory(pepper: [1, 2, 3])
        let later = makeStore(after)
        let records = later.load()
        #expect(records.map(\.sid) == [newer.sid])
        after.restore(records)
        #expect(await later.close(within: 10))
        let rows = try RoomDatabase(path: folder.database, lockTimeout: 1).load()
        #expect(rows.map(\.sid) == [newer.sid])
    }

    @Test("recreates a deleted database with all rooms; fails while its folder is missing")
    func lost() async throws {
        let store = makeStore()
        for name in ["one", "two"] {
            store.markChanged(room: try directory.create(RoomSettings(name: name)).sid)
        }
        #expect(await store.flush(within: 10))
        try FileManager.default.removeItem(atPath: folder.database)
        store.markChanged(room: try directory.create(RoomSettings(name: "three")).sid)
        #expect(await store.flush(within: 10))
        // The other rooms are written without a further change.
        #expect(
            try await eventually {
                try RoomDatabase(path: folder.database, lockTimeout: 1).load().map(\.name).sorted()
                    == ["one", "three", "two"]
            }
        )
        try FileManager.default.removeItem(atPath: folder.path)
        store.markChanged(room: try directory.create(RoomSettings(name: "four")).sid)
        #expect(await store.flush(within: 0.3) == false)
        let problem: String? = await withCheckedContinuation { answer in store.probe { answer.resume(returning: $0) } }
        #expect(problem != nil)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(await store.flush(within: 10))
        #expect(try await eventually { try RoomDatabase(path: folder.database, lockTimeout: 1).load().count == 4 })
        #expect(await store.close(within: 10))
    }

    @Test("S16 a room's type and raised hands are stored; records without them are read as before")
    func earlierRecords() throws {
        let made = try directory.create(RoomSettings(name: "show", type: .audioRoom))
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly))
        _ = try directory.raiseHand(room: "show", participant: "ben")
        let record = try #require(directory.record(of: made.sid))
        var stored = try StoredRoom(record)
        #expect(try stored.decoded() == record)

        let text = try #require(
            try JSONSerialization.jsonObject(with: Data(stored.record.utf8)) as? [String: Any]
        )
        var earlier = text
        #expect(earlier.removeValue(forKey: "hands") != nil)
        var settings = try #require(earlier["settings"] as? [String: Any])
        #expect(settings.removeValue(forKey: "givenType") as? String == "audio_room")
        earlier["settings"] = settings
        stored.record = String(decoding: try JSONSerialization.data(withJSONObject: earlier), as: UTF8.self)
        let later = RoomDirectory(pepper: [1, 2, 3])
        later.restore([try stored.decoded()])
        let room = try later.room("show")
        #expect(room.settings.type == .default && room.hands.isEmpty && room.participants.count == 1)
    }

    @Test("F33 quarantines a damaged database at startup and creates a new one")
    func damagedAtStart() async throws {
        try Data("not a database at all, but long enough to be taken for one, perhaps".utf8)
            .write(to: URL(fileURLWithPath: folder.database))
        let store = makeStore()
        #expect(store.load().isEmpty)
        #expect(store.status.quarantinedDatabases == 1)
        #expect(try quarantinedFiles().count == 1)
        let room = try directory.create(RoomSettings(name: "show"))
        store.markChanged(room: room.sid)
        #expect(await store.flush(within: 10))
        #expect(makeStore().load().map(\.sid) == [room.sid])
    }

    @Test("F33 quarantines a database that a write finds damaged, and writes every room to a new one")
    func damagedInUse() async throws {
        let rooms = try (1...300).map { try directory.create(RoomSettings(name: "show\($0)")) }
        let store = makeStore()
        for room in rooms { store.markChanged(room: room.sid) }
        #expect(await store.close(within: 20))
        let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
        let size = try file.seekToEnd()
        try #require(size > 100_000)
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: Int(size) - 4096))
        try file.close()
        for room in rooms.prefix(3) { store.markChanged(room: room.sid) }
        #expect(await store.flush(within: 20))
        #expect(store.status.quarantinedDatabases == 1)
        for _ in 0..<500 where store.status.pendingRooms > 0 || store.status.writes < 3 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(Set(makeStore().load().map(\.sid)) == Set(rooms.map(\.sid)))
        #expect(try quarantinedFiles().count == 1)
    }

    @Test("quarantines a folder at the path of the database; retains a limited number of quarantined files")
    func quarantineLimit() throws {
        for _ in 0..<8 {
            try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: false)
            #expect(makeStore().load().isEmpty)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.database + suffix) }
        }
        #expect(try quarantinedFiles().count == 5)
    }

    @Test("F33 a flush on a locked database ends at its deadline; the change is written after the lock")
    func locked() async throws {
        let store = makeStore()
        #expect(store.load().isEmpty)
        let room = try directory.create(RoomSettings(name: "show"))
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let lock = try DatabaseQueue(path: folder.database, configuration: unsafe)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        store.markChanged(room: room.sid)
        let began = ContinuousClock.now
        #expect(await store.flush(within: 0.3) == false)
        #expect(ContinuousClock.now - began < .seconds(5))
        #expect(store.status.consecutiveFailures > 0)
        #expect(store.status.pendingRooms == 1)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(await store.flush(within: 20))
        #expect(store.status.consecutiveFailures == 0)
        #expect(store.status.quarantinedDatabases == 0)
        #expect(makeStore().load().map(\.sid) == [room.sid])
    }

    @Test("an unreachable path does not stop the room, and is used once it exists")
    func unreachablePath() async throws {
        let path = folder.path + "/later/rooms.sqlite"
        let configuration = RoomStoreConfiguration(
            writeDelay: 0.01,
            initialRetryDelay: 0.02,
            maximumRetryDelay: 0.1
        )
        let store = RoomStore(
            configuration,
            path: path,
            source: directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        #expect(store.load().isEmpty)
        let room = try directory.create(RoomSettings(name: "show"))
        store.markChanged(room: room.sid)
        #expect(await store.flush(within: 0.2) == false)
        try FileManager.default.createDirectory(atPath: folder.path + "/later", withIntermediateDirectories: false)
        #expect(await store.flush(within: 20))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("loads the other rooms when one cannot be decoded")
    func unreadableRow() async throws {
        let rooms = try (1...3).map { try directory.create(RoomSettings(name: "show\($0)")) }
        let store = makeStore()
        for room in rooms { store.markChanged(room: room.sid) }
        #expect(await store.close(within: 10))
        let queue = try DatabaseQueue(path: folder.database)
        try await queue.write { [sid = rooms[1].sid] database in
            try database.execute(sql: "UPDATE room SET record = '{\"sid\":' WHERE sid = ?", arguments: [sid])
        }
        #expect(Set(makeStore().load().map(\.sid)) == [rooms[0].sid, rooms[2].sid])
    }
}
