import Testing

@testable import Stage

@Suite("A room's layout")
struct RoomLayoutTests {
    private var room: Room

    init() {
        room = Room(
            settings: RoomSettings(name: "show", maximumHosts: 20, layout: LayoutSettings(gridSize: 3)),
            replayedEvents: 16,
            at: 100
        )
        _ = room.drainEvents()
    }

    private var onAir: [String] { room.layout.tiles.map(\.label) }

    @discardableResult
    private mutating func join(_ identity: String, _ mode: ParticipantMode = .sendAndReceive) throws -> String {
        try room.join(JoinRequest(identity: identity, mode: mode), at: 101).sid
    }

    /// The names of the events since the last call.
    private mutating func events() -> [StageEvent.Name] {
        room.drainEvents().map(\.name)
    }

    @Test("V2 D17 only hosts have tiles, and invisible changes cause no layout event")
    mutating func onlyHosts() throws {
        for identity in ["a", "b", "c"] { try join(identity) }
        _ = events()
        try join("v", .receiveOnly)
        try join("s", .signallingOnly)
        #expect(onAir == ["a", "b", "c"])
        try join("d")
        #expect(onAir == ["a", "b", "c"])
        #expect(!events().contains(.layoutChanged))
        _ = try room.changeMode("d", to: .receiveOnly, at: 102)
        #expect(!events().contains(.layoutChanged))
        _ = try room.changeMode("v", to: .sendAndReceive, at: 102)
        #expect(!events().contains(.layoutChanged))
        _ = try room.changeMode("a", to: .receiveOnly, at: 103)
        #expect(onAir == ["v", "b", "c"])
        #expect(events().filter { $0 == .layoutChanged }.count == 1)
        #expect(room.view.participant("v")?.position == 0 && room.view.participant("a")?.position == nil)
    }

    @Test("each command publishes the layout at most once, and last")
    mutating func once() throws {
        for identity in ["a", "b", "c", "d"] { try join(identity) }
        _ = events()
        for _ in 0..<2 {
            let commands: [(inout Room) throws -> Void] = [
                { try $0.setLayout(LayoutSettings(kind: .sidebar, gridSize: 4), at: 105) },
                { _ = try $0.leave("b", reason: .left, at: 105) },
                { _ = try $0.join(JoinRequest(identity: "a", mode: .sendAndReceive), at: 105) },
                { _ = try $0.changeMode("c", to: .receiveOnly, at: 106) },
                { _ = try $0.changeMode("c", to: .sendAndReceive, at: 106) },
                { _ = try $0.join(JoinRequest(identity: "b", mode: .sendAndReceive), at: 107) },
            ]
            for command in commands {
                try command(&room)
                let names = events()
                #expect(names.filter { $0 == .layoutChanged }.count <= 1)
                if names.contains(.layoutChanged) { #expect(names.last == .layoutChanged) }
            }
        }
    }

    @Test("a new layout is published, an equal one is not, and an invalid one changes nothing")
    mutating func settings() throws {
        try join("a")
        try join("b")
        _ = events()
        let sidebar = LayoutSettings(kind: .sidebar, priority: .pin)
        try room.setLayout(sidebar, at: 102)
        #expect(events() == [.layoutChanged])
        #expect(room.view.settings.layout == sidebar && room.layout.settings == sidebar)
        #expect(room.layout.tiles.map(\.rectangle) == SidebarLayout.rectangles(count: 2, width: 1280, height: 720))
        try room.setLayout(sidebar, at: 103)
        #expect(events().isEmpty)
        let error = #expect(throws: StageError.self) { try room.setLayout(LayoutSettings(gridSize: 13), at: 104) }
        #expect(error?.code == 3073 && error?.message.hasPrefix("grid_size ") ?? false)
        #expect(room.layout.settings == sidebar && events().isEmpty)
        try room.end(at: 105)
        #expect(#expect(throws: StageError.self) { try room.setLayout(sidebar, at: 106) }?.code == 53106)
    }

    @Test("T17 a rejoining identity keeps its position, visible or hidden")
    mutating func duplicate() throws {
        for identity in ["a", "b", "c", "d", "e"] { try join(identity) }
        try join("b")
        #expect(onAir == ["a", "b", "c"])
        try join("b", .receiveOnly)
        #expect(onAir == ["a", "d", "c"])
    }

    @Test("V24 the dominant speaker and pins select the large tile")
    mutating func speakerAndPins() throws {
        let sids = try ["a", "b", "c", "d"].map { try join($0) }
        try room.setLayout(LayoutSettings(kind: .sidebar, gridSize: 3), at: 102)
        _ = events()
        for tenth in 0..<10 {
            room.updateLevels([AudioLevel(participantSID: sids[3], level: -20)], at: 103 + Double(tenth) / 10)
        }
        room.announceLayout(at: 104)
        #expect(onAir.first == "d" && onAir.count == 3)
        #expect(events().last == .layoutChanged)
        _ = room.pins.pin(sids[1], .camera, by: .stage, at: 105)
        room.announceLayout(at: 105)
        #expect(onAir.first == "d", "the dominant speaker precedes a pin")
        _ = room.pins.pin(sids[2], .camera, by: .participant(sids[0]), at: 106)
        try room.setLayout(LayoutSettings(kind: .spotlight, priority: .pin), at: 106)
        #expect(onAir == ["b"], "a pin for one view is not the program's")
    }

    @Test("a silent speaker's tile returns to the pinned host")
    mutating func silence() throws {
        let sids = try ["a", "b"].map { try join($0) }
        try room.setLayout(LayoutSettings(gridSize: 1), at: 102)
        _ = room.pins.pin(sids[0], .camera, by: .stage, at: 102)
        for tenth in 0..<10 {
            room.updateLevels([AudioLevel(participantSID: sids[1], level: -20)], at: 103 + Double(tenth) / 10)
        }
        room.announceLayout(at: 104)
        #expect(onAir == ["b"])
        _ = events()
        for tenth in 0..<100 { _ = room.sweep(at: 104 + Double(tenth) / 10) }
        #expect(room.speakers.dominant == nil && onAir == ["a"])
        #expect(events().contains(.layoutChanged))
    }

    @Test("placements survive a restart")
    mutating func restart() throws {
        for identity in ["a", "b", "c", "d"] { try join(identity) }
        _ = try room.leave("a", reason: .left, at: 102)
        #expect(onAir == ["d", "b", "c"])
        let restored = Room(restoring: room.record(keys: []), replayedEvents: 16, at: 200)
        #expect(restored.layout.tiles.map(\.label) == ["d", "b", "c"])
        #expect(restored.roomLayout.placements == room.roomLayout.placements)
    }

    @Test(
        "L14 hidden hosts rotate in, and prioritized hosts stay",
        arguments: [
            (LayoutSettings.Kind.grid, 3, "abcde", ["abc", "ade", "bdc", "bea"]),
            (.sidebar, 12, "abcdefg", ["abcde", "abcfg", "adefg", "adebc"]),
            (.grid, 12, "abc", ["abc", "abc"]),
            (.spotlight, 12, "abc", ["a", "a"]),
        ]
    )
    func turns(kind: LayoutSettings.Kind, size: Int, hosts: String, shown: [String]) throws {
        var layout = LayoutSettings(kind: kind, gridSize: size)
        layout.rotation = 10
        var room = Room(settings: RoomSettings(name: "show", layout: layout), replayedEvents: 16, at: 100)
        for identity in hosts {
            _ = try room.join(JoinRequest(identity: String(identity), mode: .sendAndReceive), at: 100)
        }
        _ = room.sweep(at: 100)
        for (turn, names) in shown.enumerated() {
            let now = 100 + Double(turn) * 10
            _ = room.drainEvents()
            _ = room.sweep(at: now)
            #expect(room.layout.tiles.map(\.label).joined() == names)
            let isChanged = turn > 0 && names != shown[turn - 1]
            #expect(room.drainEvents().contains { $0.name == .layoutChanged } == isChanged)
            _ = room.sweep(at: now + 9.9)
            #expect(room.drainEvents().isEmpty)
        }
        // Placements survive a restart, and a pinned host is visible in every rotation.
        let record = room.record(keys: [])
        #expect(record.settings.layout.rotation == 10)
        room = Room(restoring: record, replayedEvents: 16, at: 200)
        #expect(room.layout.tiles.map(\.label).joined() == shown.last)
        guard kind != .spotlight else { return }
        _ = try room.pin("c", .camera, by: .stage, at: 200)
        for turn in 0..<4 {
            _ = room.sweep(at: 200 + Double(turn) * 10)
            #expect(room.layout.tiles.contains { $0.label == "c" })
        }
    }
}
