import FootlightTesting
import Foundation
import GRDB
import Logging
import Stage
import Testing

@testable import RoomStore

@Suite("The keeper of rooms", .timeLimit(.minutes(1)))
struct RoomKeeperTests {
    private let folder: TemporaryFolder
    private let directory = RoomDirectory(settings: StageSettings(maximumRooms: 400), pepper: [1, 2, 3])

    init() throws {
        folder = try TemporaryFolder()
    }

    private func makeKeeper(_ directory: RoomDirectory? = nil, gathering: Double = 0.02) -> RoomKeeper {
        let configuration = RoomStoreConfiguration(
            path: folder.database,
            gathering: gathering,
            lockTimeout: 0.05,
            firstRetry: 0.02,
            longestRetry: 0.1
        )
        return RoomKeeper(
            configuration,
            source: directory ?? self.directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    private func asides() throws -> [String] {
        try folder.names().filter { $0.contains(".damaged-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
    }

    @Test("Of two rooms in progress with one name the older stays out, and leaves the database")
    func twoOfOneName() async throws {
        let keeper = makeKeeper()
        let older = try directory.create(RoomSettings(name: "show"))
        keeper.changed(room: older.sid)
        // That it ended is not stored any more.
        #expect(await keeper.flush(within: 10))
        try directory.end(room: "show")
        let newer = try directory.create(RoomSettings(name: "show"))
        keeper.changed(room: newer.sid)
        #expect(await keeper.close(within: 10))

        let after = RoomDirectory(pepper: [1, 2, 3])
        let later = makeKeeper(after)
        let records = later.load()
        #expect(records.map(\.sid) == [newer.sid])
        after.restore(records)
        #expect(await later.close(within: 10))
        let rows = try RoomDatabase(path: folder.database, lockTimeout: 1).load()
        #expect(rows.map(\.sid) == [newer.sid])
    }

    @Test("A database that is deleted is begun anew with all rooms; in a folder that is gone no room is kept")
    func lost() async throws {
        let keeper = makeKeeper()
        for name in ["one", "two"] {
            keeper.changed(room: try directory.create(RoomSettings(name: name)).sid)
        }
        #expect(await keeper.flush(within: 10))
        try FileManager.default.removeItem(atPath: folder.database)
        keeper.changed(room: try directory.create(RoomSettings(name: "three")).sid)
        #expect(await keeper.flush(within: 10))
        // The others follow by themselves.
        #expect(
            try await eventually {
                try RoomDatabase(path: folder.database, lockTimeout: 1).load().map(\.name).sorted()
                    == ["one", "three", "two"]
            }
        )
        try FileManager.default.removeItem(atPath: folder.path)
        keeper.changed(room: try directory.create(RoomSettings(name: "four")).sid)
        #expect(await keeper.flush(within: 0.3) == false)
        let problem: String? = await withCheckedContinuation { answer in keeper.probe { answer.resume(returning: $0) } }
        #expect(problem != nil)
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(await keeper.flush(within: 10))
        #expect(try await eventually { try RoomDatabase(path: folder.database, lockTimeout: 1).load().count == 4 })
        #expect(await keeper.close(within: 10))
    }

    @Test("A gateway that is started again finds its rooms, their people, pins and invitations")
    func roundTrip() async throws {
        let keeper = makeKeeper()
        #expect(keeper.load().isEmpty)
        let observation = directory.observe { keeper.changed(room: $0.roomSID) }
        let show = try directory.create(RoomSettings(name: "show"))
        _ = try directory.create(RoomSettings(name: "other"))
        let ann = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly))
        try directory.pin(room: "show", participant: "ann", type: .camera, by: .stage)
        let invitation = try directory.invite(room: "show", InvitationRequest(inviter: "ann", identities: ["ben"]))
        try directory.end(room: "other")
        #expect(await keeper.close(within: 10))
        observation.cancel()

        let later = RoomDirectory(pepper: [1, 2, 3])
        let stored = makeKeeper(later).load()
        #expect(
            stored == ["other", "show"].compactMap { directory.record(of: $0) }.sorted { $0.updatedAt < $1.updatedAt }
        )
        later.restore(stored)
        let room = try later.room("show")
        #expect(room.sid == show.sid)
        #expect(room.participants.map(\.identity) == ["ann", "ben"])
        #expect(room.participant("ann")?.sid == ann.participant.sid)
        #expect(room.participant("ann")?.pin?.type == .camera)
        #expect(try later.acceptInvitation(invitation.sid, by: "ben").state == .accepted)
        #expect(try later.room("other").status == .completed)
        let key = try #require(ann.credentials?.streamKey)
        #expect(try later.authorizePublish(streamKey: key).get().identity == "ann")
    }

    @Test("S16 a room's type and its raised hands are stored; rooms stored without either are read as before")
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

    @Test("A change is on disk soon without anybody waiting for it")
    func soon() async throws {
        let keeper = makeKeeper()
        let room = try directory.create(RoomSettings(name: "show"))
        keeper.changed(room: room.sid)
        for _ in 0..<500 where keeper.status.writes == 0 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(makeKeeper().load().map(\.sid) == [room.sid])
        #expect(keeper.status.waitingRooms == 0)
    }

    @Test("Whoever waits is answered once it is on disk, and many at once share a write")
    func flush() async throws {
        let keeper = makeKeeper(gathering: 60)
        #expect(await keeper.flush(within: 1))
        let rooms = try (1...40).map { try directory.create(RoomSettings(name: "show\($0)")) }
        for room in rooms { keeper.changed(room: room.sid) }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await keeper.flush(within: 20) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 50))
        #expect(keeper.status.writes <= 2)
        #expect(Set(makeKeeper().load().map(\.sid)) == Set(rooms.map(\.sid)))
    }

    @Test("A room that is forgotten goes from the disk")
    func forgotten() async throws {
        let room = try directory.create(RoomSettings(name: "show"))
        let keeper = makeKeeper()
        keeper.changed(room: room.sid)
        #expect(await keeper.flush(within: 10))
        let other = makeKeeper(RoomDirectory(pepper: []))
        #expect(other.load().count == 1)
        other.changed(room: room.sid)
        #expect(await other.flush(within: 10))
        #expect(makeKeeper().load().isEmpty)
    }

    @Test("F33 a damaged database is put aside at the start, and a fresh one begun")
    func damagedAtStart() async throws {
        try Data("not a database at all, but long enough to be taken for one, perhaps".utf8)
            .write(to: URL(fileURLWithPath: folder.database))
        let keeper = makeKeeper()
        #expect(keeper.load().isEmpty)
        #expect(keeper.status.damagedDatabases == 1)
        #expect(try asides().count == 1)
        let room = try directory.create(RoomSettings(name: "show"))
        keeper.changed(room: room.sid)
        #expect(await keeper.flush(within: 10))
        #expect(makeKeeper().load().map(\.sid) == [room.sid])
    }

    @Test("F33 a database that a write finds damaged is put aside, and every room is written to the new one")
    func damagedInUse() async throws {
        let rooms = try (1...300).map { try directory.create(RoomSettings(name: "show\($0)")) }
        let keeper = makeKeeper()
        for room in rooms { keeper.changed(room: room.sid) }
        #expect(await keeper.close(within: 20))
        let file = try #require(FileHandle(forUpdatingAtPath: folder.database))
        let size = try file.seekToEnd()
        try #require(size > 100_000)
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0x5A, count: Int(size) - 4096))
        try file.close()
        for room in rooms.prefix(3) { keeper.changed(room: room.sid) }
        #expect(await keeper.flush(within: 20))
        #expect(keeper.status.damagedDatabases == 1)
        for _ in 0..<500 where keeper.status.waitingRooms > 0 || keeper.status.writes < 3 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(Set(makeKeeper().load().map(\.sid)) == Set(rooms.map(\.sid)))
        #expect(try asides().count == 1)
    }

    @Test("A folder in the database's place is put aside too, and only so many are left lying about")
    func asidesAreBounded() throws {
        for _ in 0..<8 {
            try FileManager.default.createDirectory(atPath: folder.database, withIntermediateDirectories: false)
            #expect(makeKeeper().load().isEmpty)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.database + suffix) }
        }
        #expect(try asides().count == 5)
    }

    @Test("F33 a locked database keeps nobody waiting beyond the deadline, and is written once it is free")
    func locked() async throws {
        let keeper = makeKeeper()
        #expect(keeper.load().isEmpty)
        let room = try directory.create(RoomSettings(name: "show"))
        var unsafe = Configuration()
        unsafe.allowsUnsafeTransactions = true
        let lock = try DatabaseQueue(path: folder.database, configuration: unsafe)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        keeper.changed(room: room.sid)
        let began = ContinuousClock.now
        #expect(await keeper.flush(within: 0.3) == false)
        #expect(ContinuousClock.now - began < .seconds(5))
        #expect(keeper.status.failuresInARow > 0)
        #expect(keeper.status.waitingRooms == 1)
        try await lock.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(await keeper.flush(within: 20))
        #expect(keeper.status.failuresInARow == 0)
        #expect(keeper.status.damagedDatabases == 0)
        #expect(makeKeeper().load().map(\.sid) == [room.sid])
    }

    @Test("A place that cannot be written keeps the show going, and is used once it can be")
    func outOfReach() async throws {
        let path = folder.path + "/later/rooms.sqlite"
        let configuration = RoomStoreConfiguration(path: path, gathering: 0.01, firstRetry: 0.02, longestRetry: 0.1)
        let keeper = RoomKeeper(
            configuration,
            source: directory,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        #expect(keeper.load().isEmpty)
        let room = try directory.create(RoomSettings(name: "show"))
        keeper.changed(room: room.sid)
        #expect(await keeper.flush(within: 0.2) == false)
        try FileManager.default.createDirectory(atPath: folder.path + "/later", withIntermediateDirectories: false)
        #expect(await keeper.flush(within: 20))
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("One room that cannot be read does not cost the others")
    func unreadableRow() async throws {
        let rooms = try (1...3).map { try directory.create(RoomSettings(name: "show\($0)")) }
        let keeper = makeKeeper()
        for room in rooms { keeper.changed(room: room.sid) }
        #expect(await keeper.close(within: 10))
        let queue = try DatabaseQueue(path: folder.database)
        try await queue.write { [sid = rooms[1].sid] database in
            try database.execute(sql: "UPDATE room SET record = '{\"sid\":' WHERE sid = ?", arguments: [sid])
        }
        #expect(Set(makeKeeper().load().map(\.sid)) == [rooms[0].sid, rooms[2].sid])
    }
}
