import FootlightTesting
import Testing

@testable import Stage

@Suite("Pins on stage")
struct StagePinTests {
    private let clock = ManualClock()
    private let directory: RoomDirectory
    private let log = EventLog()
    private let observation: StageObservation

    init() throws {
        directory = RoomDirectory(clock: clock, pepper: [1], startedAt: 1_000)
        observation = directory.observe { [log] in log.add($0) }
        _ = try directory.create(RoomSettings(name: "show"))
        for name in ["ann", "ben", "cat"] {
            _ = try directory.join(room: "show", JoinRequest(identity: name, mode: .sendAndReceive))
        }
        _ = try directory.join(room: "show", JoinRequest(identity: "eve", mode: .receiveOnly))
    }

    private func sid(_ identity: String) throws -> String {
        try #require(try directory.room("show").participant(identity)?.sid)
    }

    private func code(_ body: () throws -> Void) -> Int? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StageError)?.code
        }
    }

    @discardableResult
    private func pin(_ identity: String, by owner: PinOwner = .stage) throws -> Pin {
        clock.advance(by: .seconds(1))
        return try directory.pin(room: "show", participant: identity, type: .camera, by: owner)
    }

    @Test("V24 a pin by an operator is in everybody's view of the host, and raises its revision")
    func remotePin() throws {
        let before = try directory.room("show").participant("ann")
        let made = try pin("ann")
        #expect(made == Pin(participantSID: try sid("ann"), type: .camera, isLocal: false, pinnedAt: 1_001))
        let after = try directory.room("show").participant("ann")
        #expect(after?.pin == made)
        #expect((after?.revision ?? 0) > (before?.revision ?? 0))
        #expect(log.pins == [PinChange(participantSID: made.participantSID, pin: made, viewerSID: nil)])
        #expect(try pin("ann") == made)
        #expect(log.pins.count == 1)
        try directory.unpin(room: "show", participant: "ann", by: .stage)
        try directory.unpin(room: "show", participant: "ann", by: .stage)
        #expect(try directory.room("show").participant("ann")?.pin == nil)
        #expect(log.pins.map(\.pin) == [made, nil])
    }

    @Test("L3 the newest pin comes first, and one's own come after those for everybody")
    func order() throws {
        try pin("ann", by: .participant("eve"))
        try pin("ben")
        try pin("cat")
        let names = try ["cat", "ben", "ann"].map(sid)
        #expect(try directory.pins(room: "show").map(\.participantSID) == Array(names.prefix(2)))
        #expect(try directory.pins(room: "show", seenBy: "eve").map(\.participantSID) == names)
        #expect(try directory.pins(room: "show", seenBy: sid("ann")).map(\.participantSID) == Array(names.prefix(2)))
    }

    @Test("A pin for one's own view changes neither the picture nor what others see")
    func localPin() throws {
        let before = try directory.room("show")
        let told = log.events.count
        let made = try pin("cat", by: .participant("eve"))
        #expect(made.isLocal)
        let after = try directory.room("show")
        #expect(after.layout == before.layout)
        #expect(after.participants == before.participants)
        #expect(log.pins == [PinChange(participantSID: made.participantSID, pin: made, viewerSID: try sid("eve"))])
        #expect(log.names.dropFirst(told) == [.pinChanged])
    }

    @Test("The news of a pin for one's own view is for that participant's stream alone")
    func localNews() async throws {
        let eve = try directory.subscribe(room: "show", after: nil, participant: "eve")
        let ann = try directory.subscribe(room: "show", after: nil, participant: "ann")
        try pin("cat", by: .participant("eve"))
        try pin("ben")
        try directory.end(room: "show")
        let (eves, anns) = (await names(eve), await names(ann))
        #expect(eves.filter { $0 == .pinChanged }.count == 2)
        #expect(anns.filter { $0 == .pinChanged }.count == 1)
    }

    private func names(_ subscription: EventSubscription) async -> [StageEvent.Name] {
        var names: [StageEvent.Name] = []
        for await event in subscription.events { names.append(event.name) }
        return names
    }

    @Test("V2 only hosts of the room are pinned, and only by who is in it")
    func refusals() throws {
        #expect(code { try pin("eve") } == 3066)
        #expect(code { try pin("zoe") } == 53204)
        #expect(code { try pin("ann", by: .participant("zoe")) } == 53204)
        #expect(code { try directory.unpin(room: "show", participant: "zoe", by: .stage) } == 53204)
        #expect(code { try directory.pin(room: "none", participant: "ann", type: .camera, by: .stage) } == 53106)
        #expect(code { _ = try directory.pins(room: "show", seenBy: "zoe") } == 53204)
        #expect(log.pins.isEmpty)
    }

    @Test("V16 a host that steps down is not pinned any more, before the news of it")
    func demotion() throws {
        try pin("ann")
        try pin("ann", by: .participant("eve"))
        let seen = log.events.count
        _ = try directory.changeMode(room: "show", participant: "ann", to: .receiveOnly)
        let names = log.names.dropFirst(seen)
        let unpinned = try #require(names.firstIndex(of: .pinChanged))
        #expect(unpinned < (names.firstIndex(of: .participantModeChanged) ?? 0))
        #expect(names.count { $0 == .pinChanged } == 1)
        #expect(try directory.pins(room: "show", seenBy: "eve").isEmpty)
    }

    @Test("A host that leaves is not pinned any more; one that joins anew still is, under the new sid")
    func leaving() throws {
        try pin("ann")
        try pin("ben")
        try directory.leave(room: "show", participant: "ann", reason: .left)
        #expect(try directory.pins(room: "show").map(\.participantSID) == [sid("ben")])
        let old = try sid("ben")
        _ = try directory.join(room: "show", JoinRequest(identity: "ben", mode: .sendAndReceive))
        #expect(try sid("ben") != old)
        #expect(try directory.pins(room: "show").map(\.participantSID) == [sid("ben")])
        #expect(try directory.room("show").participant("ben")?.pin != nil)
    }
}
