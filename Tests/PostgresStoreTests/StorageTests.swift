import FootlightTesting
import Foundation
import Shows
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Persistence

/// A directory that forgets all its rooms.
private final class ForgetfulDirectory: RoomRecordSource {
    let isEmpty = Mutex(false)
    private let directory: RoomDirectory

    init(_ directory: RoomDirectory) {
        self.directory = directory
    }

    func record(of room: String) -> RoomRecord? { isEmpty.withLock { $0 } ? nil : directory.record(of: room) }

    func roomSIDs() -> [String] { isEmpty.withLock { $0 } ? [] : directory.roomSIDs() }
}

/// What holds for every database, and so for a gateway that runs alone as for several.
@Suite("Storage of rooms and shows", .sharedPostgres, .enabled(if: TestRun.isFull), .timeLimit(.minutes(1)))
struct StorageTests {
    private let directory = RoomDirectory(settings: StageSettings(maximumRooms: 400), pepper: [1, 2, 3])

    private func room(_ sid: String, at now: Double = 1, endedAt: Double? = nil) -> StoredRoom {
        StoredRoom(
            sid: sid,
            name: "name-of-\(sid)",
            status: endedAt == nil ? "in-progress" : "completed",
            updatedAt: now,
            endedAt: endedAt,
            record: #"{"text":"quotes ' and \"double\", \\, {braces}, NULL, \u0000, ü, 🎬","number":1e-7}"#
        )
    }

    // MARK: Rooms

    @Test("another process loads the latest version of each saved room", arguments: DatabaseKind.present)
    func saveAndLoad(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        try await fixture.claim(["RM1", "RM2", "RM3", "RM4"])
        let rooms = fixture.rooms()
        #expect(try rooms.load().isEmpty)
        try rooms.probe()
        var changes = RoomChanges(rooms: [room("RM1"), room("RM2", at: 1_764_300_000.123456), room("RM3")])
        #expect(try rooms.write { _ in changes } == RoomWriteResult())
        changes = RoomChanges(rooms: [room("RM1", at: 3)], removed: ["RM3", "RM9"])
        #expect(try rooms.write { _ in changes } == RoomWriteResult())
        // The first storage is still open.
        let expected = [room("RM1", at: 3), room("RM2", at: 1_764_300_000.123456)]
        #expect(try fixture.rooms().load() == expected)
        #expect(try fixture.rooms().load("RM1") == expected[0])
        #expect(try fixture.rooms().load("RM4") == nil)
        #expect(try rooms.write { _ in RoomChanges(rooms: [], removed: ["RM2"]) } == RoomWriteResult())
        rooms.close()
        #expect(try fixture.rooms().load() == [expected[0]])
        #expect(try rooms.load() == [expected[0]])
    }

    @Test("retains ended rooms up to a number and an age, and all rooms in progress", arguments: DatabaseKind.present)
    func retention(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let rooms = fixture.rooms()
        func save(_ numbers: ClosedRange<Int>, since: Double) async throws {
            let sids = numbers.map { String(format: "RM%02d", $0) }
            try await fixture.claim(sids)
            let ended = zip(sids, numbers).map { room($0, at: Double($1), endedAt: Double($1)) }
            let changes = RoomChanges(rooms: ended, maximumEnded: 3, endedSince: since)
            #expect(try rooms.write { _ in changes } == RoomWriteResult())
            // Of a cluster's rooms only those without an owner expire.
            try await fixture.release(sids)
        }
        try await fixture.claim(["live", "last"])
        #expect(try rooms.write { _ in RoomChanges(rooms: [room("live")]) } == RoomWriteResult())
        for number in 1...6 { try await save(number...number, since: 5) }
        let last = room("last", at: 50, endedAt: 50)
        let changes = RoomChanges(rooms: [last], maximumEnded: 3, endedSince: 5)
        #expect(try rooms.write { _ in changes } == RoomWriteResult())
        #expect(try rooms.load().map(\.sid) == ["live", "RM05", "RM06", "last"])
        try await save(7...12, since: 0)
        #expect(try rooms.write { _ in RoomChanges(rooms: [last], maximumEnded: 3) } == RoomWriteResult())
        #expect(try rooms.load().map(\.sid) == ["live", "RM11", "RM12", "last"])
    }

    @Test(
        "a restarted gateway restores rooms with participants, pins and invitations",
        arguments: DatabaseKind.present
    )
    func roundTrip(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let store = fixture.store(of: directory)
        #expect(store.load().isEmpty)
        let observation = directory.observe { store.markChanged(room: $0.roomSID) }
        let show = try directory.create(RoomSettings(name: "show"))
        let other = try directory.create(RoomSettings(name: "other"))
        try await fixture.claim([show.sid, other.sid])
        let ann = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .receiveOnly))
        try directory.pin(room: "show", participant: "ann", type: .camera, by: .stage)
        let invitation = try directory.invite(room: "show", InvitationRequest(inviter: "ann", identities: ["ben"]))
        try directory.end(room: "other")
        #expect(await store.close(within: 10))
        observation.cancel()

        try await fixture.restart()
        let later = RoomDirectory(pepper: [1, 2, 3])
        let laterStore = fixture.store(of: later)
        let stored = laterStore.load()
        #expect(
            stored == ["other", "show"].compactMap { directory.record(of: $0) }.sorted { $0.updatedAt < $1.updatedAt }
        )
        #expect(try await laterStore.load(room: show.sid) == directory.record(of: "show"))
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
        // What the next process writes counts.
        laterStore.markChanged(room: show.sid)
        #expect(await laterStore.close(within: 10))
        #expect(fixture.store(of: later).load().first { $0.sid == show.sid } == later.record(of: "show"))
    }

    @Test("writes a change soon without a flush", arguments: DatabaseKind.present)
    func writesWithoutFlush(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let store = fixture.store(of: directory)
        let room = try directory.create(RoomSettings(name: "show"))
        try await fixture.claim([room.sid])
        store.markChanged(room: room.sid)
        #expect(try await eventually { store.status.writes > 0 })
        #expect(fixture.store(of: directory).load().map(\.sid) == [room.sid])
        #expect(store.status.pendingRooms == 0)
    }

    @Test(
        "a flush returns once its changes are on disk; concurrent flushes share a write",
        arguments: DatabaseKind.present
    )
    func flush(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let store = fixture.store(of: directory, writeDelay: 60)
        #expect(await store.flush(within: 1))
        // More than fit in one statement.
        let rooms = try (1...300).map { try directory.create(RoomSettings(name: "show\($0)")) }
        try await fixture.claim(rooms.map(\.sid))
        for room in rooms { store.markChanged(room: room.sid) }
        let answers = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { await store.flush(room: number < 25 ? rooms[number].sid : nil, within: 20) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers == Array(repeating: true, count: 50))
        #expect(store.status.writes <= 2)
        #expect(Set(fixture.store(of: directory).load().map(\.sid)) == Set(rooms.map(\.sid)))
    }

    @Test("deletes a forgotten room", arguments: DatabaseKind.present)
    func forgotten(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        let room = try directory.create(RoomSettings(name: "show"))
        try await fixture.claim([room.sid])
        let store = fixture.store(of: directory)
        store.markChanged(room: room.sid)
        #expect(await store.flush(within: 10))
        try await fixture.restart()
        let later = ForgetfulDirectory(directory)
        let laterStore = fixture.store(of: later)
        #expect(laterStore.load().count == 1)
        laterStore.markChanged(room: room.sid)
        #expect(await laterStore.flush(within: 10))
        later.isEmpty.withLock { $0 = true }
        laterStore.markChanged(room: room.sid)
        #expect(await laterStore.flush(within: 10))
        #expect(fixture.store(of: directory).load().isEmpty)
    }

    // MARK: Shows

    @Test("shows come back with their keys, in the version of the last write", arguments: DatabaseKind.present)
    func shows(kind: DatabaseKind) async throws {
        let fixture = try await StorageFixture(kind)
        defer { withExtendedLifetime(fixture) {} }
        let (first, second) = (try await makeShow("weekly"), try await makeShow("other"))
        try await fixture.claim([first.id, second.id])
        let store = ShowStore(storage: fixture.shows(), secret: Array(1...32), logger: StorageFixture.logger)
        #expect(store.load() == ([], true))
        #expect(await problem(of: store) == nil)
        for show in [first, second] { try await store.save(show.id, { show }, all: { [] }) }
        var changed = first
        changed.settings.title = "Später — 🎬"
        let latest = changed
        try await store.save(first.id, { latest }, all: { [] })
        try await store.save(second.id, { nil }, all: { [] })
        #expect(store.load() == ([latest], true))

        try await fixture.restart()
        let later = ShowStore(storage: fixture.shows(), secret: Array(1...32), logger: StorageFixture.logger)
        #expect(later.load() == ([latest], true))
        #expect(try await later.load(show: first.id) == latest)
        try await later.save(first.id, { first }, all: { [] })
        #expect(later.load() == ([first], true))
        // Another secret opens nothing.
        let other = ShowStore(storage: fixture.shows(), secret: Array(2...33), logger: StorageFixture.logger)
        #expect(other.load() == ([], false))
        await #expect(throws: (any Error).self) { try await other.load(show: first.id) }
        try await later.save(first.id, { nil }, all: { [] })
        #expect(later.load() == ([], true))
    }

    private func problem(of store: ShowStore) async -> String? {
        await withCheckedContinuation { answer in store.probe { answer.resume(returning: $0) } }
    }

    /// Makes a show with a seat, as a show directory does.
    private func makeShow(_ name: String) async throws -> Show {
        struct NoStore: ShowStoring {
            func save(
                _ id: String,
                _ read: @escaping @Sendable () -> Show?,
                all: @escaping @Sendable () -> [Show]
            ) async throws {}
        }
        let shows = ShowDirectory(
            stage: RoomDirectory(pepper: [1]),
            store: NoStore(),
            effects: ShowDirectory.Effects(
                startOutputs: { (_, _) throws(StageError) in },
                startRecording: { (_) throws(StageError) in },
                log: { _, _ in }
            )
        )
        return try await shows.create(ShowSettings(room: RoomSettings(name: name)), seats: [("ann", "Ann")])
    }
}
