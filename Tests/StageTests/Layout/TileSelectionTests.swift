import TestSupport
import Testing

@testable import Stage

/// The selection of visible hosts when tiles are scarce.
@Suite("Tile selection")
struct TileSelectionTests {
    /// Six tiles, and seven hosts with video; the seventh is hidden.
    private func seven(_ settings: LayoutSettings = LayoutSettings(gridSize: 6)) -> LayoutFixture {
        var stage = LayoutFixture(settings)
        stage.join("1", "2", "3", "4", "5", "6", "7")
        return stage
    }

    @Test("Q1 a join beyond the capacity waits")
    func joinWaits() {
        var stage = seven()
        #expect(stage.order == "123456")
        let before = stage.layout
        stage.join("8")
        stage.change("8") { $0.hasCamera = false }
        stage.change("7") { $0.label = "another name" }
        #expect(stage.layout == before, "D17 who is hidden changes nothing that is seen")
    }

    @Test("D23 a hidden host that speaks replaces the lowest-ranking one, and only that tile changes")
    func speakerDisplaces() {
        var stage = seven()
        stage.setDominant("1")
        #expect(stage.order == "123456")
        // No other host ever spoke, and all have video: the one that joined first ranks lowest.
        stage.setDominant("7")
        #expect(stage.order == "173456")
        stage.setDominant(nil)
        #expect(stage.order == "173456")
        stage.change("5") { $0.hasCamera = false }
        #expect(stage.order == "173456", "a camera that goes off keeps its tile")
        stage.setDominant("2")
        #expect(stage.order == "173426", "without video is lower than with")
        stage.leave("3")
        #expect(stage.order == "175426", "a hidden host takes the free tile")
        stage.leave("4")
        #expect(stage.order == "17562", "without hidden hosts the last tile moves into the gap")
    }

    @Test("D23 the least recently visible host is replaced")
    func leastRecentlyVisible() {
        var stage = seven()
        stage.setDominant("7")
        #expect(stage.order == "723456")
        stage.leave("7")
        #expect(stage.order == "123456", "the first came back")
        stage.join("8", "9")
        stage.setDominant("8")
        #expect(stage.order == "183456", "the second was in view for longer than the first")
        stage.setDominant("9")
        #expect(stage.order == "189456")
    }

    @Test("Q1 a pin and a screen take one tile too")
    func pinAndScreenDisplace() {
        var stage = seven(LayoutSettings(gridSize: 6, autoSwitchOnScreenShare: false))
        stage.pin("7")
        #expect(stage.order == "723456")
        stage.join("8", "9")
        stage.share("8")
        #expect(stage.order == "783456")
        #expect(stage.layout.tiles[1].source == .screen)
        stage.pin("9", .screen)
        #expect(stage.order == "783456", "a pin on a screen that is not shared waits")
        stage.share("9")
        #expect(stage.order == "789456")
        stage.share("8", false)
        stage.share("9", false)
        stage.pin("7", nil)
        #expect(stage.order == "789456", "who has a tile keeps it")
    }

    @Test("of hidden hosts the last speaker is next, else the first")
    func queue() {
        var stage = LayoutFixture(LayoutSettings(gridSize: 2))
        stage.join("1", "2", "3", "4", "5")
        stage.setDominant("5")
        stage.setDominant("2")
        #expect(stage.order == "52")
        stage.leave("5")
        #expect(stage.order == "12")
        stage.setDominant("4")
        #expect(stage.order == "42")
        stage.setDominant("3")
        #expect(stage.order == "43")
        stage.leave("4")
        #expect(stage.order == "23", "2 spoke, 1 never did")
        stage.leave("2")
        #expect(stage.order == "13")
    }

    @Test("V24 the priority orders the dominant speaker and pins when tiles are scarce")
    func priorities() {
        for priority in LayoutSettings.Priority.allCases {
            var stage = LayoutFixture(LayoutSettings(priority: priority, gridSize: 1))
            stage.join("1", "2")
            stage.pin("1")
            stage.setDominant("2")
            #expect(stage.order == (priority == .speaker ? "2" : "1"))
        }
    }

    @Test("A smaller grid keeps its first places, and a larger one fills up again")
    func gridSize() {
        var stage = seven()
        stage.set { $0.gridSize = 4 }
        #expect(stage.order == "1234")
        stage.set { $0.gridSize = 12 }
        #expect(stage.order == "1234567")
        stage.set { $0.gridSize = 1 }
        stage.setDominant("5")
        #expect(stage.order == "5")
    }

    @Test("Q1 for any events only a speaker, a pin or a screen replaces a tile, one at a time")
    func randomEvents() {
        var generator = SeededGenerator(seed: 23)
        for round in 0..<60 {
            let settings = LayoutSettings(
                priority: round % 2 == 0 ? .speaker : .pin,
                gridSize: .random(in: 1...5, using: &generator),
                autoSwitchOnScreenShare: .random(using: &generator)
            )
            var stage = LayoutFixture(settings)
            var next = 0
            for _ in 0..<80 {
                let before = Set(stage.shown)
                let present = Set(stage.hosts.map(\.sid))
                let sid = stage.hosts.randomElement(using: &generator)?.sid ?? ""
                var mayDisplace = false
                switch Int.random(in: 0..<7, using: &generator) {
                case 0, 1:
                    next += 1
                    stage.join("h\(next)", hasCamera: .random(using: &generator))
                case 2: stage.leave(sid)
                case 3: stage.change(sid) { $0.hasCamera.toggle() }
                case 4:
                    stage.setDominant(Bool.random(using: &generator) ? sid : nil)
                    mayDisplace = true
                case 5:
                    stage.pin(sid, PinType.allCases.randomElement(using: &generator))
                    mayDisplace = true
                default:
                    stage.share(sid, .random(using: &generator))
                    mayDisplace = true
                }
                let still = present.intersection(stage.hosts.map(\.sid))
                let displaced = before.intersection(still).subtracting(stage.shown)
                #expect(displaced.count <= (mayDisplace ? 1 : 0), "\(displaced) in round \(round)")
                #expect(stage.shown.count == min(stage.hosts.count, settings.gridSize))
            }
        }
    }
}
