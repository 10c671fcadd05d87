import Stage
import Testing

@Suite("Layouts of the room directory")
struct RoomDirectoryLayoutTests {
    private let directory = RoomDirectory(pepper: [1, 2, 3])

    private func makeShow() throws {
        _ = try directory.create(RoomSettings(name: "show"))
        for identity in ["a", "b", "c"] {
            _ = try directory.join(room: "show", JoinRequest(identity: identity, mode: .sendAndReceive))
        }
    }

    @Test("A change of some settings leaves the others, and one that throws leaves all")
    func change() throws {
        try makeShow()
        try directory.setLayout(room: "show", LayoutSettings(kind: .sidebar, theme: .dark))
        let changed = try directory.setLayout(room: "show") { $0.gridSize = 2 }
        #expect(changed.settings == LayoutSettings(kind: .sidebar, gridSize: 2, theme: .dark))
        #expect(changed.tiles.count == 2)
        #expect(try directory.layout(room: "show") == changed)
        #expect(try directory.room("show").settings.layout == changed.settings)
        let error = #expect(throws: StageError.self) {
            try directory.setLayout(room: "show") { settings throws(StageError) in
                settings.gridSize = 3
                throw .invalidParameter("type", "must be one of GRID, SPOTLIGHT, SIDEBAR")
            }
        }
        #expect(error?.code == 3073)
        #expect(try directory.layout(room: "show") == changed)
        #expect(#expect(throws: StageError.self) { try directory.setLayout(room: "none", .init()) }?.code == 53106)
    }

    @Test("A preview shows what would be, of the room's hosts or of others, and changes nothing")
    func preview() throws {
        try makeShow()
        let before = try directory.room("show")
        let sidebar = LayoutSettings(kind: .sidebar)
        let own = try directory.previewLayout(room: "show", settings: sidebar)
        #expect(own.tiles.map(\.label) == ["a", "b", "c"])
        #expect(own.tiles.map(\.rectangle) == SidebarLayout.rectangles(count: 3, width: 1280, height: 720))
        let described = [
            LayoutHost(sid: "x", label: "X", hasCamera: true),
            LayoutHost(sid: "y", label: "Y", hasCamera: true, hasScreen: true),
        ]
        let other = try directory.previewLayout(room: "show", hosts: described)
        #expect(other.tiles.map(\.participantSID) == ["y", "x"])
        #expect(other.tiles.map(\.source) == [.screen, .camera])
        #expect(try directory.room("show") == before)
        #expect(try directory.setLayout(room: "show", sidebar) == own)
    }

    @Test("3073 a preview of too many hosts, of the same host twice or of a wrong grid is refused")
    func refusedPreview() throws {
        try makeShow()
        let many = (0...50).map { LayoutHost(sid: "\($0)", label: "") }
        let twice = [LayoutHost(sid: "x", label: "X"), LayoutHost(sid: "x", label: "Y")]
        for hosts in [many, twice] {
            let error = #expect(throws: StageError.self) { try directory.previewLayout(room: "show", hosts: hosts) }
            #expect(error?.code == 3073 && error?.message.hasPrefix("hosts ") ?? false)
        }
        let error = #expect(throws: StageError.self) {
            try directory.previewLayout(room: "show", settings: LayoutSettings(gridSize: 0))
        }
        #expect(error?.code == 3073 && error?.message.hasPrefix("grid_size ") ?? false)
    }
}
