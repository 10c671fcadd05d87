import Cluster
import FootlightTesting
import Foundation
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Persistence
@testable import PostgresStore

@Suite(
    "Fenced storage in PostgreSQL",
    .sharedPostgres,
    .enabled(if: TestRun.isFull && PostgresServers.programs != nil),
    .timeLimit(.minutes(2))
)
struct FencedStorageTests {
    private func room(
        _ sid: String,
        at now: Double = 1,
        name: String? = nil,
        endedAt: Double? = nil
    ) -> StoredRoom {
        StoredRoom(
            sid: sid,
            name: name ?? "name-of-\(sid)",
            status: endedAt == nil ? "in-progress" : "completed",
            updatedAt: now,
            endedAt: endedAt,
            record: "{}"
        )
    }

    private func write(
        _ rooms: [StoredRoom],
        _ removed: [String] = [],
        by storage: PostgresRoomStorage
    ) throws -> RoomWriteResult {
        try storage.write { _ in RoomChanges(rooms: rooms, removed: removed) }
    }

    /// Runs an operation, and returns its fault.
    private func fault(_ body: () throws -> Void) -> StoreFault? {
        do {
            try body()
            return nil
        } catch {
            return error as? StoreFault
        }
    }

    @Test("writes of an owner that was fenced change neither rooms nor shows")
    func lateOwner() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        try await first.claim(["RM1", "RM2", "SH1"])
        let (rooms, shows) = (first.rooms(), first.shows())
        #expect(try write([room("RM1"), room("RM2")], by: rooms) == RoomWriteResult())
        try shows.save(Data([0, 1, 255]), of: "SH1")

        try await second.claim(["RM1", "SH1"], fencing: first)
        let (laterRooms, laterShows) = (second.rooms(), second.shows())
        #expect(try laterRooms.load("RM1") == room("RM1"))
        #expect(try laterShows.load("SH1") == Data([0, 1, 255]))
        var late = try write([room("RM1", at: 9), room("RM2", at: 9)], by: rooms)
        #expect(late.refused == ["RM1"] && late.delayed.isEmpty)
        late = try write([], ["RM1"], by: rooms)
        #expect(late.refused == ["RM1"])
        #expect(fault { try shows.save(Data([2]), of: "SH1") } == .fenced("another gateway owns the show"))
        #expect(fault { try shows.save(nil, of: "SH1") } == .fenced("another gateway owns the show"))
        // What the former owner still has is not what it reads.
        guard case .unavailable = fault({ _ = try rooms.load("RM1") }) else {
            Issue.record("read by a former owner")
            return
        }
        #expect(try laterRooms.load() == [room("RM1"), room("RM2", at: 9)])
        #expect(try laterShows.load("SH1") == Data([0, 1, 255]))

        #expect(try write([room("RM1", at: 10)], by: laterRooms) == RoomWriteResult())
        try laterShows.save(Data([3]), of: "SH1")
        late = try write([room("RM1", at: 11)], by: rooms)
        #expect(late.refused == ["RM1"])
        #expect(try laterRooms.load("RM1") == room("RM1", at: 10))
        #expect(try laterShows.load().map(\.document) == [Data([3])])
        // A show that its owner deleted does not come back.
        try laterShows.save(nil, of: "SH1")
        guard case .unavailable = fault({ try shows.save(Data([4]), of: "SH1") }) else {
            Issue.record("a deleted show was written")
            return
        }
        #expect(try laterShows.load().isEmpty)
    }

    @Test("a store learns that another node owns a room, and the others of its rooms are stored")
    func refusedRooms() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        let directory = RoomDirectory(pepper: [1])
        let sids = try ["lost", "kept"].map { try directory.create(RoomSettings(name: $0)).sid }
        try await first.claim(sids)
        let refused = Mutex<[String]>([])
        let store = first.store(of: directory) { room in refused.withLock { $0.append(room) } }
        for sid in sids { store.markChanged(room: sid) }
        #expect(await store.flush(within: 10))
        try await second.claim([sids[0]], fencing: first)
        for name in ["lost", "kept"] {
            _ = try directory.join(room: name, JoinRequest(identity: "ann", mode: .receiveOnly))
        }
        for sid in sids { store.markChanged(room: sid) }
        async let lost = store.flush(room: sids[0], within: 10)
        async let stored = store.flush(room: sids[1], within: 10)
        #expect(await lost == false)
        #expect(await stored)
        // Nothing is left to do for the other owner's room.
        #expect(await store.flush(within: 10))
        #expect(store.status.pendingRooms == 0)
        #expect(refused.withLock { $0 } == [sids[0]])
        let records = second.store(of: directory).load()
        #expect(records.first { $0.sid == sids[0] }?.participants.isEmpty == true)
        #expect(records.first { $0.sid == sids[1] } == directory.record(of: "kept"))
    }

    @Test("a new owner reads all that the former one was acknowledged, and nothing comes after, 20 times")
    func takeoverDuringWrites() async throws {
        let database = try await StorageFixture.newDatabase()
        var owner = try await ClaimingNode("a0", database)
        try await owner.claim(["RM1"])
        var stored = 0.0
        for round in 1...20 {
            let next = try await ClaimingNode("a\(round)", database)
            let (former, begin) = (owner, stored)
            stored = try await withThrowingTaskGroup(of: Double.self) { group in
                group.addTask {
                    let rooms = former.rooms()
                    var acknowledged = begin
                    while true {
                        let result = try write([room("RM1", at: acknowledged + 1)], by: rooms)
                        if result.refused == ["RM1"] { return acknowledged }
                        // The row is locked by the claim.
                        if result.delayed.isEmpty { acknowledged += 1 }
                    }
                }
                try await Task.sleep(for: .milliseconds(Int.random(in: 5...40)))
                try await next.claim(["RM1"], fencing: former)
                let record = try next.rooms().load("RM1")
                let acknowledged = try #require(try await group.next())
                #expect(acknowledged == record?.updatedAt ?? 0, "round \(round)")
                #expect(try next.rooms().load("RM1") == record, "round \(round)")
                return acknowledged
            }
            owner = next
        }
        #expect(stored > 20)
    }

    @Test("a write that arrives after a later one of the same owner has no effect")
    func overtakenWrite() async throws {
        let node = try await ClaimingNode("a", StorageFixture.newDatabase())
        try await node.claim(["RM1", "SH1"])
        let fence = try #require(node.fence(of: "RM1"))
        func writeRoom(_ number: UInt64) async throws -> [[String?]] {
            let change = PostgresRoomStorage.Change(sid: "RM1", fence: fence, room: room("RM1", at: Double(number)))
            return try await node.link.execute(PostgresRoomStorage.statement(for: [change], number: number))
        }
        func writeShow(_ number: UInt64) async throws -> [[String?]] {
            try await node.link.execute(
                PostgresShowStorage.statement(for: Data([UInt8(number)]), of: "SH1", fence: fence, number: number)
            )
        }
        #expect(try await writeRoom(2).map { $0[2] } == ["t"])
        #expect(try await writeRoom(1).map { $0[2] } == ["f"])
        #expect(try await writeRoom(2).map { $0[2] } == ["f"])
        #expect(try node.rooms().load("RM1")?.updatedAt == 2)
        #expect(try await writeShow(2) == [["t", "\(fence)"]])
        #expect(try await writeShow(1) == [["f", "\(fence)"]])
        #expect(try node.shows().load("SH1") == Data([2]))
    }

    @Test("a room that was taken over and is not loaded yet is not deleted as a forgotten one")
    func notLoaded() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        let directory = RoomDirectory(pepper: [1])
        let sid = try directory.create(RoomSettings(name: "show")).sid
        try await first.claim([sid])
        let store = first.store(of: directory)
        store.markChanged(room: sid)
        #expect(await store.flush(within: 10))
        try await second.claim([sid], fencing: first)
        let later = RoomDirectory(pepper: [1])
        let laterStore = second.store(of: later)
        laterStore.markChanged(room: sid)
        #expect(await laterStore.flush(within: 10))
        let record = try #require(try await laterStore.load(room: sid))
        #expect(record == directory.record(of: sid))
        later.restore([record])
        laterStore.markChanged(room: sid)
        #expect(await laterStore.flush(within: 10))
        #expect(try await laterStore.load(room: sid) == later.record(of: sid))
    }

    @Test("a room that no node owns yet is written once it is claimed")
    func unclaimed() async throws {
        let node = try await ClaimingNode("a", StorageFixture.newDatabase())
        let directory = RoomDirectory(pepper: [1])
        let store = node.store(of: directory)
        let early = try directory.create(RoomSettings(name: "early")).sid
        let owned = try directory.create(RoomSettings(name: "owned")).sid
        try await node.claim([owned])
        for sid in [early, owned] { store.markChanged(room: sid) }
        #expect(await store.flush(room: owned, within: 10))
        #expect(await store.flush(room: early, within: 0.3) == false)
        #expect(await store.flush(within: 0.1) == false)
        #expect(store.status.pendingRooms == 1 && store.status.failures == 0)
        #expect(try node.rooms().load().map(\.sid) == [owned])
        let showFault = fault { try node.shows().save(Data(), of: "SH1") }
        #expect(showFault == .unavailable("this gateway does not own the show"))
        try await node.claim([early])
        #expect(await store.flush(within: 10))
        #expect(Set(try node.rooms().load().map(\.sid)) == [early, owned])
    }

    @Test("of two rooms in progress with one name the second waits until the first has ended")
    func names() async throws {
        let database = try await StorageFixture.newDatabase()
        let (first, second) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        try await first.claim(["RM1", "RM5"])
        try await second.claim(["RM2", "RM3", "RM4"])
        let (rooms, others) = (first.rooms(), second.rooms())
        #expect(try write([room("RM1", name: "show")], by: rooms) == RoomWriteResult())
        let batch = [room("RM2", name: "show"), room("RM3"), room("RM4", name: "show", endedAt: 1)]
        let result = try write(batch, by: others)
        #expect(Array(result.delayed.keys) == ["RM2"] && result.refused.isEmpty)
        #expect(Set(try rooms.load().map(\.sid)) == ["RM1", "RM3", "RM4"])
        // One write ends a room and begins the next one of its name, in any order.
        for pair in [("RM1", "RM5"), ("RM5", "RM1")] {
            let changes = [room(pair.0, name: "show", endedAt: 1), room(pair.1, name: "show")]
            #expect(try write(changes, by: rooms) == RoomWriteResult())
        }
        #expect(try write([room("RM1", name: "show", endedAt: 2)], by: rooms) == RoomWriteResult())
        #expect(try write(batch, by: others) == RoomWriteResult())
    }

    @Test("a locked row delays its room alone, and nothing waits for the lock")
    func lockedRow() async throws {
        let database = try await StorageFixture.newDatabase()
        let (node, other) = (try await ClaimingNode("a", database), try await ClaimingNode("b", database))
        try await node.claim(["RM1", "RM2", "RM3", "SH1"])
        let (rooms, shows) = (node.rooms(), node.shows())
        #expect(try write([room("RM3")], by: rooms) == RoomWriteResult())
        let lock = "BEGIN; SELECT FROM footlight.room WHERE sid IN ('RM1', 'RM3', 'SH1') FOR UPDATE"
        _ = try await other.link.execute(PostgresStatement(lock))
        let begin = MonotonicTime.now()
        let result = try write([room("RM1"), room("RM2")], ["RM3"], by: rooms)
        #expect(Set(result.delayed.keys) == ["RM1", "RM3"] && result.refused.isEmpty)
        #expect(fault { try shows.save(Data(), of: "SH1") } == .unavailable("the row of the show is locked"))
        #expect(MonotonicTime.now().seconds(since: begin) < 3)
        _ = try await other.link.execute(PostgresStatement("COMMIT"))
        #expect(try write([room("RM1")], ["RM3"], by: rooms) == RoomWriteResult())
        try shows.save(Data(), of: "SH1")
        #expect(Set(try rooms.load().map(\.sid)) == ["RM1", "RM2"])
    }

    @Test("a server that stops answering delays no caller beyond its deadline, and what is stored is the latest change")
    func stoppedServer() async throws {
        let servers = try await PostgresServers(hasStandby: false)
        let node = try await ClaimingNode("a", servers.connection(0), timeout: 500)
        let directory = RoomDirectory(pepper: [1])
        let sid = try directory.create(RoomSettings(name: "show")).sid
        try await node.claim([sid])
        let store = node.store(of: directory)
        store.markChanged(room: sid)
        #expect(await store.flush(within: 10))
        servers.setStopped(true, 0)
        for number in 0..<8 {
            _ = try directory.join(room: "show", JoinRequest(identity: "viewer\(number)", mode: .receiveOnly))
            store.markChanged(room: sid)
            let begin = MonotonicTime.now()
            #expect(await store.flush(room: sid, within: 0.2) == false)
            #expect(MonotonicTime.now().seconds(since: begin) < 2)
        }
        let problem: String? = await withCheckedContinuation { answer in store.probe { answer.resume(returning: $0) } }
        #expect(problem != nil)
        #expect(store.status.consecutiveFailures > 0)
        servers.setStopped(false, 0)
        #expect(await store.flush(within: 20))
        let expected = directory.record(of: "show")
        #expect(try await store.load(room: sid) == expected)
        // Statements whose answers were not awaited may still be executed.
        try await Task.sleep(for: .seconds(1))
        #expect(try await store.load(room: sid) == expected)
        #expect(await store.close(within: 10))
    }

    @Test("without its standby a server acknowledges no write of a room or show")
    func missingStandby() async throws {
        let servers = try await PostgresServers()
        let node = try await ClaimingNode("a", servers.connection(0), timeout: 700)
        try await node.claim(["RM1", "RM2", "SH1"])
        let (rooms, shows) = (node.rooms(), node.shows())
        #expect(try write([room("RM1")], by: rooms) == RoomWriteResult())
        try rooms.probe()
        try await servers.killStandby()
        let operations: [() throws -> Void] = [
            { _ = try write([room("RM2")], by: rooms) }, { try shows.save(Data(), of: "SH1") }, { try rooms.probe() },
        ]
        for (index, operation) in operations.enumerated() {
            let fault = fault(operation)
            guard case .unavailable = fault else {
                Issue.record("\(index): \(String(describing: fault))")
                continue
            }
        }
        // For the sessions that wait.
        try await servers.query("ALTER SYSTEM SET synchronous_standby_names = ''", on: 0)
        try await servers.query("SELECT pg_reload_conf()", on: 0)
    }

    @Test("tables of the first version are migrated with their rows, and those of a later version are refused")
    func migrations() async throws {
        let database = try await StorageFixture.newDatabase()
        let link = try PostgresLink(.init(connection: database, timeout: 5000), logger: StorageFixture.logger)
        _ = try await link.execute(PostgresStatement(PostgresSchema.script(to: 1)))
        let tenure = "INSERT INTO footlight.room VALUES ('RM1', 'a', 7, 1800000000)"
        _ = try await link.execute(PostgresStatement(tenure))
        // Several nodes do so at the same time.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let configuration = PostgresLink.Configuration(connection: database, timeout: 5000)
                    try await PostgresSchema.prepare(PostgresLink(configuration, logger: StorageFixture.logger))
                }
            }
            try await group.waitForAll()
        }
        let rooms = PostgresRoomStorage(link: link) { _ in 1_800_000_000 }
        #expect(try write([room("RM1")], by: rooms) == RoomWriteResult())
        #expect(try rooms.load() == [room("RM1")])
        let version = PostgresStatement("SELECT number FROM footlight.version")
        #expect(try await link.execute(version) == [["\(PostgresSchema.migrations.count)"]])
        _ = try await link.execute(PostgresStatement("UPDATE footlight.version SET number = number + 1"))
        await #expect(throws: PostgresFault.self) { try await PostgresSchema.prepare(link) }
    }
}
