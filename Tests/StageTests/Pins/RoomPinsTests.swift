import FootlightTesting
import TestSupport
import Testing

@testable import Stage

@Suite("Room pins")
struct RoomPinsTests {
    private func names(_ pins: [Pin]) -> [String] {
        pins.map { $0.participantSID + ($0.isLocal ? "*" : "") }
    }

    @Test("L3 pins for everybody come before one's own, and the newest first")
    func order() {
        var roomPins = RoomPins()
        _ = roomPins.pin("ann", .camera, by: .participant("zoe"), at: 1)
        _ = roomPins.pin("ben", .camera, by: .stage, at: 2)
        _ = roomPins.pin("cat", .camera, by: .stage, at: 3)
        _ = roomPins.pin("dan", .camera, by: .participant("zoe"), at: 4)
        #expect(names(roomPins.pins(seenBy: "zoe")) == ["cat", "ben", "dan*", "ann*"])
    }

    @Test("a local pin affects its viewer alone, and never the program")
    func localPins() {
        var roomPins = RoomPins()
        let changes = roomPins.pin("ann", .screen, by: .participant("zoe"), at: 1)
        let pin = Pin(participantSID: "ann", type: .screen, isLocal: true, pinnedAt: 1)
        #expect(changes == [PinChange(participantSID: "ann", pin: pin, viewerSID: "zoe")])
        #expect(roomPins.program.isEmpty)
        #expect(roomPins.pin(of: "ann") == nil)
        #expect(roomPins.pins(seenBy: "ben").isEmpty)
        #expect(roomPins.pins(seenBy: "zoe") == [pin])
    }

    @Test("A pin for everybody outranks one's own on the same host, which is there again when it goes")
    func remoteOutranksLocal() {
        var roomPins = RoomPins()
        _ = roomPins.pin("ann", .camera, by: .participant("zoe"), at: 1)
        _ = roomPins.pin("ann", .screen, by: .stage, at: 2)
        #expect(names(roomPins.pins(seenBy: "zoe")) == ["ann"])
        #expect(roomPins.unpin("ann", by: .stage) == PinChange(participantSID: "ann", pin: nil, viewerSID: nil))
        #expect(names(roomPins.pins(seenBy: "zoe")) == ["ann*"])
    }

    @Test("The same pin again changes nothing; another kind is a new pin in front")
    func samePin() throws {
        var roomPins = RoomPins()
        #expect(roomPins.pin("ann", .camera, by: .stage, at: 1).count == 1)
        _ = roomPins.pin("ben", .camera, by: .stage, at: 2)
        #expect(roomPins.pin("ann", .camera, by: .stage, at: 3).isEmpty)
        #expect(names(roomPins.program) == ["ben", "ann"])
        #expect(roomPins.pin("ann", .screenAndCamera, by: .stage, at: 4).first?.pin?.type == .screenAndCamera)
        #expect(names(roomPins.program) == ["ann", "ben"])
        #expect(roomPins.program.map(\.pinnedAt) == [4, 2])
    }

    @Test("unpinning affects only existing pins of the same owner")
    func unpin() {
        var roomPins = RoomPins()
        _ = roomPins.pin("ann", .camera, by: .stage, at: 1)
        #expect(roomPins.unpin("ann", by: .participant("zoe")) == nil)
        #expect(roomPins.unpin("ben", by: .stage) == nil)
        #expect(roomPins.pin(of: "ann") != nil)
    }

    @Test("stepping down removes pins on a host but not its own; leaving removes both")
    func removal() {
        var roomPins = RoomPins()
        _ = roomPins.pin("ann", .camera, by: .stage, at: 1)
        _ = roomPins.pin("ann", .camera, by: .participant("zoe"), at: 2)
        _ = roomPins.pin("zoe", .camera, by: .participant("ann"), at: 3)
        #expect(roomPins.removePins(on: "ann") == PinChange(participantSID: "ann", pin: nil, viewerSID: nil))
        #expect(roomPins.removePins(on: "ann") == nil)
        #expect(names(roomPins.pins(seenBy: "zoe")).isEmpty)
        #expect(names(roomPins.pins(seenBy: "ann")) == ["zoe*"])
        #expect(roomPins.remove("ann") == nil)
        #expect(roomPins == RoomPins())
    }

    @Test("T17 the same person under a new sid keeps the pin for everybody and the own ones")
    func replace() {
        var roomPins = RoomPins()
        _ = roomPins.pin("ann", .screen, by: .stage, at: 1)
        _ = roomPins.pin("ben", .camera, by: .stage, at: 2)
        _ = roomPins.pin("ann", .camera, by: .participant("ann"), at: 3)
        _ = roomPins.pin("cat", .camera, by: .participant("ann"), at: 4)
        _ = roomPins.pin("ann", .camera, by: .participant("zoe"), at: 5)
        roomPins.replace("ann", with: "new")
        #expect(names(roomPins.program) == ["ben", "new"])
        #expect(roomPins.pin(of: "new")?.pinnedAt == 1)
        #expect(names(roomPins.pins(seenBy: "new")) == ["ben", "new", "cat*"])
        #expect(names(roomPins.pins(seenBy: "zoe")) == ["ben", "new"])
        #expect(names(roomPins.pins(seenBy: "ann")) == ["ben", "new"])
        #expect(roomPins.pin("new", .camera, by: .participant("new"), at: 9).isEmpty)
    }

    @Test("a participant has at most twelve local pins; the oldest is removed with an event")
    func bounded() {
        var roomPins = RoomPins()
        for number in 1...12 { _ = roomPins.pin("h\(number)", .camera, by: .participant("zoe"), at: Double(number)) }
        let changes = roomPins.pin("h13", .camera, by: .participant("zoe"), at: 13)
        #expect(changes.map(\.participantSID) == ["h13", "h1"])
        #expect(changes.last == PinChange(participantSID: "h1", pin: nil, viewerSID: "zoe"))
        #expect(roomPins.pins(seenBy: "zoe").count == 12)
    }

    @Test("Whatever is pinned and unpinned, each host has one pin at most from each owner, in order of date")
    func invariants() {
        var chance = SeededGenerator(seed: 7)
        let sids = (1...6).map { "p\($0)" }
        for _ in 0..<30 {
            var roomPins = RoomPins()
            for step in 1...200 {
                let now = Double(step)
                let sid = sids.randomElement(using: &chance) ?? "p1"
                let owner: PinOwner = Bool.random(using: &chance) ? .stage : .participant("p\(step % 6 + 1)")
                switch Int.random(in: 0..<10, using: &chance) {
                case 0: _ = roomPins.remove(sid)
                case 1: _ = roomPins.removePins(on: sid)
                case 2, 3: _ = roomPins.unpin(sid, by: owner)
                default:
                    _ = roomPins.pin(sid, PinType.allCases.randomElement(using: &chance) ?? .camera, by: owner, at: now)
                }
                for viewer in sids {
                    let seen = roomPins.pins(seenBy: viewer)
                    #expect(Set(seen.map(\.participantSID)).count == seen.count)
                    #expect(Array(seen.prefix(roomPins.program.count)) == roomPins.program)
                    #expect(seen.dropFirst(roomPins.program.count).allSatisfy { $0.isLocal })
                    for kind in [true, false] {
                        let dates = seen.filter { $0.isLocal == kind }.map(\.pinnedAt)
                        #expect(dates == dates.sorted(by: >))
                    }
                }
            }
        }
    }
}

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

    @Test("a local pin changes neither the program nor other views")
    func localPin() throws {
        let before = try directory.room("show")
        let received = log.events.count
        let made = try pin("cat", by: .participant("eve"))
        #expect(made.isLocal)
        let after = try directory.room("show")
        #expect(after.layout == before.layout)
        #expect(after.participants == before.participants)
        #expect(log.pins == [PinChange(participantSID: made.participantSID, pin: made, viewerSID: try sid("eve"))])
        #expect(log.names.dropFirst(received) == [.pinChanged])
    }

    @Test("a local pin's event reaches its viewer's stream alone")
    func localPinEvents() async throws {
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

    @Test("V16 a host that steps down is unpinned before its mode event")
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
