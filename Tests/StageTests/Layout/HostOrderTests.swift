import Foundation
import Testing

@testable import Stage

@Suite("The order of hosts on stage")
struct HostOrderTests {
    private var room = Room(
        settings: RoomSettings(name: "show", maximumHosts: 20),
        replayedEvents: 16,
        at: 100
    )

    init() throws {
        for identity in ["ann", "bob", "cid", "dan"] { try join(identity) }
        _ = room.drainEvents()
    }

    private var onAir: [String] { room.layout.tiles.map(\.label) }
    private var order: [String]? { room.settings.hostOrder?.identities }

    private mutating func join(_ identity: String, _ mode: ParticipantMode = .sendAndReceive) throws {
        _ = try room.join(JoinRequest(identity: identity, mode: mode), at: 101)
    }

    private mutating func put(_ identities: String...) throws {
        try room.setHostOrder(identities, at: 102)
    }

    private mutating func events() -> [StageEvent.Name] { room.drainEvents().map(\.name) }

    @Test("named hosts come first, the others follow in their present order, and an event tells it")
    mutating func naming() throws {
        try put("cid", "bob")
        #expect(onAir == ["cid", "bob", "ann", "dan"] && order == ["cid", "bob", "ann", "dan"])
        #expect(events() == [.roomUpdated, .layoutChanged])
        try put("dan")
        #expect(onAir == ["dan", "cid", "bob", "ann"])
        _ = events()
        try put("dan", "cid")
        #expect(events().isEmpty, "nothing changed")
        #expect(room.participants.map(\.identity) == ["ann", "bob", "cid", "dan"], "participants stay in join order")
        try put()
        #expect(order == nil && onAir == ["dan", "cid", "bob", "ann"], "hosts keep their tiles")
        #expect(events() == [.roomUpdated])
    }

    @Test("unknown and repeated identities are refused by name, and change nothing")
    mutating func faults() throws {
        try join("viewer", .receiveOnly)
        _ = events()
        for (identities, message) in [
            (["bob", "zoe"], "identities[1] is no host of this room: zoe"),
            (["viewer"], "identities[0] is no host of this room: viewer"),
            (["bob", "ann", "bob"], "identities[2] is there already: bob"),
        ] {
            let error = #expect(throws: StageError.self) { try room.setHostOrder(identities, at: 103) }
            #expect(error?.code == 3073 && error?.message == message)
        }
        #expect(order == nil && events().isEmpty)
        try room.end(at: 104)
        #expect(#expect(throws: StageError.self) { try room.setHostOrder(["ann"], at: 105) }?.code == 53106)
    }

    @Test("a host has its place again after a reconnection, after it left, and after a restart; a new one comes last")
    mutating func returning() throws {
        try put("dan", "cid", "bob", "ann")
        try join("cid")
        #expect(onAir == ["dan", "cid", "bob", "ann"])
        _ = try room.leave("cid", reason: .left, at: 103)
        #expect(onAir == ["dan", "bob", "ann"])
        try join("eve")
        try put("ann", "cid")
        #expect(onAir == ["ann", "dan", "bob", "eve"] && order == ["ann", "cid", "dan", "bob", "eve"])
        try join("cid")
        #expect(onAir == ["ann", "cid", "dan", "bob", "eve"])
        let data = try JSONEncoder().encode(room.record(keys: []))
        let record = try JSONDecoder().decode(RoomRecord.self, from: data)
        let restored = Room(restoring: record, replayedEvents: 16, at: 200)
        #expect(restored.layout.tiles.map(\.label) == onAir && restored.settings.hostOrder == room.settings.hostOrder)
    }

    @Test("the order is bounded: those who left longest ago lose their places")
    func capacity() throws {
        var order = HostOrder()
        for number in 0..<300 { try order.put(["host\(number)"], beforeOthersOf: ["host\(number)", "ann"]) }
        #expect(order.identities.count == HostOrder.capacity && order.identities.contains("ann"))
        #expect(order.identities.first == "host299" && !order.identities.contains("host0"))
    }

    @Test("tiles of every layout follow the order: a large tile is the first without a speaker, pins precede")
    func layouts() {
        var stage = LayoutFixture(LayoutSettings(kind: .sidebar))
        stage.join("a", "b", "c", "d", "e")
        stage.order("edcba")
        #expect(stage.order == "edcba")
        stage.setDominant("c")
        #expect(stage.order == "cedba")
        stage.setDominant("d")
        #expect(stage.order == "decba", "the strip is in the order, whoever is large")
        stage.set { $0.kind = .grid }
        #expect(stage.order == "edcba")
        stage.set { $0.priority = .pin }
        stage.pin("a")
        stage.pin("c")
        #expect(stage.order == "caedb")
        stage.set { $0.gridSize = 3 }
        #expect(stage.order == "cad", "the dominant speaker has the last tile")
        stage.set { $0.kind = .spotlight }
        #expect(stage.order == "ca")
    }
}
