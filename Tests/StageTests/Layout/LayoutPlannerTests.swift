import TestSupport
import Testing

@testable import Stage

@Suite("Layout planner")
struct LayoutPlannerTests {
    private func stage(
        _ kind: LayoutSettings.Kind,
        _ priority: LayoutSettings.Priority = .speaker,
        gridSize: Int = 12,
        autoSwitch: Bool = true,
        hosts: String = "abcd"
    ) -> LayoutFixture {
        var stage = LayoutFixture(
            LayoutSettings(
                kind: kind,
                priority: priority,
                gridSize: gridSize,
                autoSwitchOnScreenShare: autoSwitch
            )
        )
        for sid in hosts { stage.join(String(sid)) }
        return stage
    }

    private func rectangle(_ stage: LayoutFixture, _ index: Int) -> [Int] {
        let rectangle = stage.layout.tiles[index].rectangle
        return [rectangle.x, rectangle.y, rectangle.width, rectangle.height]
    }

    // MARK: GRID

    @Test("V24 GRID shows all hosts in the order they joined, at most as many as the grid's size")
    func grid() {
        #expect(stage(.grid).order == "abcd")
        #expect(stage(.grid, gridSize: 3).order == "abc")
        let tiles = stage(.grid).layout.tiles
        #expect(tiles.map(\.rectangle) == GridLayout.rectangles(count: 4, width: 1280, height: 720))
        #expect(tiles.map(\.position) == [0, 1, 2, 3])
        #expect(stage(.grid, hosts: "").layout.tiles.isEmpty)
    }

    @Test("V24 GRID with priority PIN has the pinned first; with SPEAKER all keep their positions")
    func gridPins() {
        var pinFirst = stage(.grid, .pin)
        pinFirst.pin("c")
        #expect(pinFirst.order == "cbad")
        pinFirst.pin("d")
        #expect(pinFirst.order == "cdab")
        pinFirst.pin("c", nil)
        #expect(pinFirst.order == "dcab")
        pinFirst.pin("d", nil)
        #expect(pinFirst.order == "dcab", "no tile moves back")

        var speakerFirst = stage(.grid, .speaker)
        speakerFirst.pin("c")
        speakerFirst.setDominant("d")
        #expect(speakerFirst.order == "abcd")
    }

    @Test("D28 without switching a screen takes the camera's place in the same tile, and gives it back")
    func screenInPlace() {
        var stage = stage(.grid, autoSwitch: false)
        let before = stage.layout
        stage.share("b")
        #expect(stage.order == "abcd")
        #expect(stage.layout.tiles.map(\.source) == [.camera, .screen, .camera, .camera])
        #expect(stage.layout.tiles.map(\.scaleMode) == [.fill, .fit, .fill, .fill])
        #expect(stage.layout.tiles.map(\.rectangle) == before.tiles.map(\.rectangle))
        stage.share("b", false)
        #expect(stage.layout == before)
    }

    @Test("V24 GRID with switching makes the screen the large tile, and the grid keeps its order at the side")
    func presentation() {
        var stage = stage(.grid)
        let before = stage.layout
        stage.share("c")
        #expect(stage.order == "cabd")
        #expect(stage.layout.tiles[0].source == .screen && stage.layout.tiles[0].scaleMode == .fit)
        #expect(rectangle(stage, 0) == [0, 0, 952, 720])
        #expect(rectangle(stage, 1) == [960, 90, 320, 174])
        stage.share("a")
        #expect(stage.order == "cabd", "the first screen stays large")
        #expect(stage.layout.tiles[1].source == .screen)
        stage.pin("a", .screen)
        #expect(stage.order == "abcd", "a pinned screen is before it")
        stage.share("a", false)
        #expect(stage.order == "cabd")
        stage.share("c", false)
        #expect(stage.layout == before)
    }

    @Test("V24 the large screen counts for the grid's size")
    func presentationCapacity() {
        var stage = stage(.grid, gridSize: 3)
        stage.share("d")
        #expect(stage.order == "dbc")
        #expect(self.stage(.grid, gridSize: 1).order == "a")
    }

    // MARK: SIDEBAR

    @Test("V24 T20 SIDEBAR with SPEAKER: the dominant speaker, else the previous one, else the first; others stay")
    func sidebarSpeaker() {
        var stage = stage(.sidebar)
        #expect(stage.order == "abcd")
        #expect(rectangle(stage, 0) == [0, 0, 1280, 532])
        #expect((1...3).map { rectangle(stage, $0)[0] } == [160, 482, 804])
        stage.setDominant("c")
        #expect(stage.order == "cbad", "two tiles are exchanged")
        stage.setDominant(nil)
        #expect(stage.order == "cbad")
        stage.setDominant("d")
        #expect(stage.order == "dbac")
        stage.leave("d")
        #expect(stage.order == "cba", "the one before is still there")
        stage.leave("c")
        #expect(stage.order == "ab")
        stage.pin("b")
        #expect(stage.order == "ba", "a pin decides before the first speech")
        stage.setDominant("a")
        #expect(stage.order == "ab", "the dominant speaker precedes a pin")
    }

    @Test("V24 SIDEBAR with PIN: the newest pin, whoever speaks; without a pin as with SPEAKER")
    func sidebarPin() {
        var stage = stage(.sidebar, .pin)
        stage.setDominant("b")
        #expect(stage.order == "bacd")
        stage.pin("c")
        #expect(stage.order == "cabd")
        stage.pin("d")
        #expect(stage.order == "dabc")
        stage.pin("d", nil)
        #expect(stage.order == "cabd")
        stage.pin("c", nil)
        #expect(stage.shown.first == "b")
    }

    @Test("V24 SIDEBAR: a pinned screen is large with either priority", arguments: LayoutSettings.Priority.allCases)
    func sidebarPinnedScreen(priority: LayoutSettings.Priority) {
        var stage = stage(.sidebar, priority, autoSwitch: false)
        stage.pin("b", .screen)
        stage.pin("c", .camera)
        stage.setDominant("d")
        #expect(stage.shown.first == (priority == .speaker ? "d" : "c"))
        stage.share("b")
        #expect(stage.shown.first == "b" && stage.layout.tiles[0].source == .screen)
        stage.share("b", false)
        #expect(stage.shown.first == (priority == .speaker ? "d" : "c"))
    }

    @Test("SIDEBAR: a screen that is not pinned is large by switching, after a pin where pins go first")
    func sidebarSwitch() {
        var speaker = stage(.sidebar, .speaker)
        speaker.setDominant("d")
        speaker.share("b")
        #expect(speaker.shown.first == "b")
        var pin = stage(.sidebar, .pin)
        pin.share("b")
        #expect(pin.shown.first == "b")
        pin.pin("c", .camera)
        #expect(pin.shown.first == "c")
        var off = stage(.sidebar, .speaker, autoSwitch: false)
        off.setDominant("d")
        off.share("b")
        #expect(off.shown.first == "d")
        #expect(off.layout.tiles.first { $0.participantSID == "b" }?.source == .screen)
    }

    @Test("L7 L10 SIDEBAR: the large one is seen whole, the strip is filled, and four of it are drawn")
    func sidebarStrip() {
        var stage = stage(.sidebar, hosts: "abcdefg")
        #expect(stage.order == "abcde")
        #expect(stage.layout.tiles.map(\.scaleMode) == [.fit, .fill, .fill, .fill, .fill])
        stage.setDominant("g")
        #expect(stage.shown.first == "g" && stage.shown.count == 5)
        #expect(Set(["a", "b", "c", "d", "e"]).subtracting(stage.shown).count == 1, "one gives way")
        stage.set { $0.kind = .grid }
        #expect(stage.order == "abcdefg", "the grid is as it was")
        var alone = self.stage(.sidebar, hosts: "a")
        #expect(rectangle(alone, 0) == [0, 0, 1280, 720])
        alone.leave("a")
        #expect(alone.layout.tiles.isEmpty)
    }

    @Test("SIDEBAR: the large tile and the strip have the scale modes that are set, and a screen is whole in each")
    func sidebarScaleModes() {
        var stage = stage(.sidebar, hosts: "abc")
        stage.set { $0.largeScaleMode = .fill }
        #expect(stage.layout.tiles.map(\.scaleMode) == [.fill, .fill, .fill])
        stage.set { $0.scaleMode = .fit }
        #expect(stage.layout.tiles.map(\.scaleMode) == [.fill, .fit, .fit])
        stage.share("a")
        #expect(stage.layout.tiles[0].source == .screen && stage.layout.tiles[0].scaleMode == .fit)
        stage.set { $0.kind = .grid }
        #expect(stage.layout.tiles.allSatisfy { $0.scaleMode == .fit }, "the large tile's mode is that of sidebars")
    }

    @Test("SIDEBAR: the strip has as many hosts as it has places for, and keeps their order when that changes")
    func sidebarStripSize() {
        var stage = stage(.sidebar, hosts: "abcdefghijkl")
        #expect(stage.order == "abcde" && stage.layout.stripSize == 4)
        stage.set { $0.stripSize = 12 }
        #expect(stage.order == "abcdefghijkl" && stage.layout.stripSize == 12)
        stage.set { $0.stripSize = 7 }
        #expect(stage.order == "abcdefgh")
        #expect(stage.layout.tiles.dropFirst().allSatisfy { $0.isInStrip })
        stage.set { $0.gridSize = 3 }
        #expect(stage.order == "abc", "the large tile and the strip together have the grid size")
        stage.set { settings in
            settings.gridSize = 12
            settings.stripSize = nil
        }
        #expect(stage.order == "abcde")
    }

    // MARK: SPOTLIGHT

    @Test("V24 SPOTLIGHT with SPEAKER: the dominant speaker alone")
    func spotlightSpeaker() {
        var stage = stage(.spotlight)
        #expect(stage.order == "a")
        stage.setDominant("c")
        #expect(stage.order == "c")
        stage.pin("b")
        #expect(stage.order == "c")
        stage.share("d")
        #expect(stage.order == "d" && stage.layout.tiles[0].source == .screen)
        #expect(rectangle(stage, 0) == [0, 0, 1280, 720])
    }

    @Test("V24 SPOTLIGHT with PIN: only the pinned, or only the screen of one of them")
    func spotlightPin() {
        var stage = stage(.spotlight, .pin)
        stage.setDominant("d")
        #expect(stage.order == "d", "a program without pins is not empty")
        stage.pin("b")
        #expect(stage.order == "b")
        stage.pin("c")
        #expect(stage.order == "bc")
        #expect(stage.layout.tiles.map(\.rectangle) == GridLayout.rectangles(count: 2, width: 1280, height: 720))
        stage.share("d")
        #expect(stage.order == "bc", "who is not pinned is not shown")
        stage.share("b")
        #expect(stage.order == "b" && stage.layout.tiles[0].source == .screen)
        stage.share("b", false)
        stage.pin("b", nil)
        #expect(stage.order == "c")
    }

    // MARK: What a tile says

    @Test("D29 L8 cameras are scaled by the settings, and a host without video has a placeholder")
    func tile() {
        var stage = stage(.grid, hosts: "ab")
        stage.set { $0.scaleMode = .fit }
        #expect(stage.layout.tiles.map(\.scaleMode) == [.fit, .fit])
        stage.set { $0.scaleMode = .fill }
        stage.change("a") { host in
            host.hasCamera = false
            host.isMicOn = false
            host.label = "Ann"
        }
        #expect(
            stage.layout.tiles[0]
                == Tile(
                    position: 0,
                    participantSID: "a",
                    source: .placeholder,
                    rectangle: TileRectangle(x: 0, y: 0, width: 636, height: 720),
                    scaleMode: .fill,
                    label: "Ann",
                    isMicOn: false
                )
        )
        #expect(stage.layout.tiles[1].isMicOn && stage.layout.tiles[1].source == .camera)
    }

    @Test("D26 the orientation is that of the canvas unless set")
    func orientation() {
        var stage = stage(.grid, hosts: "ab")
        #expect(stage.layout.orientation == .landscape)
        stage.set { $0.orientation = .portrait }
        #expect(stage.layout.orientation == .portrait)
        #expect(rectangle(stage, 1) == [0, 364, 1280, 356])
    }

    @Test("A preview is what a room with these hosts shows from its beginning")
    func preview() {
        var stage = stage(.sidebar, hosts: "abcdef")
        stage.setDominant("e")
        let preview = LayoutPlanner.preview(settings: stage.settings, width: 1280, height: 720, hosts: stage.hosts)
        #expect(preview.tiles.map(\.participantSID) == ["e", "a", "b", "c", "d"])
        #expect(
            preview == LayoutPlanner.preview(settings: stage.settings, width: 1280, height: 720, hosts: stage.hosts)
        )
    }

    @Test("3073 names the grid's size, the one value that can be wrong", arguments: [0, 13, -1, Int.max])
    func validation(size: Int) throws {
        let error = #expect(throws: StageError.self) { try LayoutSettings(gridSize: size).validate() }
        #expect(error?.code == 3073 && error?.message.contains("layout.grid_size") ?? false)
        let bare = #expect(throws: StageError.self) { try LayoutSettings(gridSize: size).validate(path: "") }
        #expect(bare?.message.hasPrefix("grid_size ") ?? false)
        for size in 1...12 { try LayoutSettings(gridSize: size).validate() }
    }
}

@Suite("Stable positions")
struct StablePositionsTests {
    @Test("D22 those who stay keep their index, and the free ones are filled in order")
    func vectors() {
        #expect(StablePositions.arrange(previous: [0, 1, 2], next: [1, 2, 3]) == [3, 1, 2])
        #expect(StablePositions.arrange(previous: [0, 1, 2], next: [3, 4, 0, 1, 2]) == [0, 1, 2, 3, 4])
        #expect(StablePositions.arrange(previous: [0, 1, 2, 3, 4], next: [1, 2, 3]) == [3, 1, 2])
    }

    @Test("D22 a new order alone moves no member")
    func reorder() {
        #expect(StablePositions.arrange(previous: [0, 1, 2], next: [2, 0, 1]) == [0, 1, 2])
    }

    @Test("D22 the result contains exactly the new members, and no member moves needlessly")
    func randomLists() {
        var generator = SeededGenerator(seed: 22)
        for _ in 0..<2000 {
            let previous = Array((0..<14).shuffled(using: &generator).prefix(.random(in: 0...12, using: &generator)))
            let next = Array((0..<14).shuffled(using: &generator).prefix(.random(in: 0...12, using: &generator)))
            let result = StablePositions.arrange(previous: previous, next: next)
            #expect(result.sorted() == next.sorted())
            for (index, member) in previous.enumerated() where index < next.count && next.contains(member) {
                #expect(result[index] == member)
            }
        }
    }
}
