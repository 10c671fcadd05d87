import Stage
import Synchronization
import Testing

@Suite("Observing the stage")
struct ObservationTests {
    private let directory = RoomDirectory(pepper: [])

    /// Records the events of an observer, in order.
    private final class Record: Sendable {
        private let events = Mutex<[StageEvent]>([])
        private let isBusy = Mutex(false)
        let overlaps = Atomic<Int>(0)

        func add(_ event: StageEvent) {
            if isBusy.withLock({ busy in
                defer { busy = true }
                return busy
            }) {
                overlaps.add(1, ordering: .relaxed)
            }
            events.withLock { $0.append(event) }
            isBusy.withLock { $0 = false }
        }

        var all: [StageEvent] { events.withLock { $0 } }
    }

    @Test("An observer sees every event once, in order, and none after it was cancelled")
    func order() throws {
        let record = Record()
        let observation = directory.observe { record.add($0) }
        _ = try directory.create(RoomSettings(name: "show"))
        _ = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .sendAndReceive))
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(
            record.all.map(\.name) == [
                .roomCreated, .participantJoined, .layoutChanged, .participantLeft, .layoutChanged,
            ]
        )
        #expect(record.all.map(\.revision) == [1, 2, 3, 4, 5])
        #expect(record.all.allSatisfy { $0.roomName == "show" })
        observation.cancel()
        try directory.end(room: "show")
        #expect(record.all.count == 5)
    }

    @Test("An observer whose observation is gone is not called")
    func forgotten() throws {
        let record = Record()
        do {
            _ = directory.observe { record.add($0) }
        }
        _ = try directory.create(RoomSettings(name: "show"))
        #expect(record.all.isEmpty)
    }

    @Test("an observer may call the directory, and the resulting events follow the current one")
    func reentrance() throws {
        let record = Record()
        let directory = directory
        let first = directory.observe { event in
            guard event.name == .participantJoined else { return }
            try? directory.leave(room: event.roomName, participant: "ann", reason: .removed)
        }
        let second = directory.observe { record.add($0) }
        _ = try directory.create(RoomSettings(name: "show"))
        _ = try directory.join(room: "show", JoinRequest(identity: "ann", mode: .receiveOnly))
        #expect(record.all.map(\.name) == [.roomCreated, .participantJoined, .participantLeft])
        #expect(try directory.room("show").counts.participants == 0)
        first.cancel()
        second.cancel()
    }

    @Test("From many threads at once, observers still see each room's revisions rise by one, one call at a time")
    func manyThreads() async throws {
        let directory = directory
        let records = [Record(), Record()]
        let observations = records.map { record in directory.observe { record.add($0) } }
        for room in 0..<4 { _ = try directory.create(RoomSettings(name: "r\(room)")) }
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<100 {
                        let room = "r\((task + round) % 4)"
                        let identity = "p\(task)"
                        _ = try? directory.join(room: room, JoinRequest(identity: identity, mode: .receiveOnly))
                        try? directory.leave(room: room, participant: identity, reason: .left)
                    }
                }
            }
        }
        for record in records {
            #expect(record.overlaps.load(ordering: .relaxed) == 0)
            #expect(record.all.count == 4 + 8 * 100 * 2)
            for room in 0..<4 {
                let revisions = record.all.filter { $0.roomName == "r\(room)" }.map(\.revision)
                #expect(revisions == Array(1...UInt64(revisions.count)))
            }
        }
        #expect(records[0].all == records[1].all)
        #expect(directory.rooms().allSatisfy { $0.counts.participants == 0 })
        for observation in observations { observation.cancel() }
    }
}
