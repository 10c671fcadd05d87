import Testing

@testable import Stage

/// Who is shown when not everybody can be.
@Suite("The stage's rule")
struct StageRuleTests {
    /// Six places, and seven hosts with video; the seventh waits.
    private func seven(_ settings: LayoutSettings = LayoutSettings(gridSize: 6)) -> PlannedStage {
        var stage = PlannedStage(settings)
        stage.join("1", "2", "3", "4", "5", "6", "7")
        return stage
    }

    @Test("Q1 a join beyond the capacity waits")
    func joinWaits() {
        var stage = seven()
        #expect(stage.word == "123456")
        let before = stage.layout
        stage.join("8")
        stage.change("8") { $0.hasCamera = false }
        stage.change("7") { $0.label = "another name" }
        #expect(stage.layout == before, "D17 who is hidden changes nothing that is seen")
    }

    @Test("D23 a hidden host who speaks takes the place of the lowest-ranking one, and only that tile changes")
    func speakerDisplaces() {
        var stage = seven()
        stage.speak("1")
        #expect(stage.word == "123456")
        // Nobody else ever spoke, and all have video: the one who joined first is the lowest.
        stage.speak("7")
        #expect(stage.word == "173456")
        stage.speak(nil)
        #expect(stage.word == "173456")
        stage.change("5") { $0.hasCamera = false }
        #expect(stage.word == "173456", "a camera that goes off keeps its tile")
        stage.speak("2")
        #expect(stage.word == "173426", "without video is lower than with")
        stage.leave("3")
        #expect(stage.word == "175426", "whoever waits takes the place that is free")
        stage.leave("4")
        #expect(stage.word == "17562", "with nobody waiting the last one closes up")
    }

    @Test("D23 who came back into view stays there, and the least recently visible gives way")
    func leastRecentlyVisible() {
        var stage = seven()
        stage.speak("7")
        #expect(stage.word == "723456")
        stage.leave("7")
        #expect(stage.word == "123456", "the first came back")
        stage.join("8", "9")
        stage.speak("8")
        #expect(stage.word == "183456", "the second was in view for longer than the first")
        stage.speak("9")
        #expect(stage.word == "189456")
    }

    @Test("Q1 a pin and a screen take one tile too")
    func pinAndScreenDisplace() {
        var stage = seven(LayoutSettings(gridSize: 6, autoSwitchOnScreenShare: false))
        stage.pin("7")
        #expect(stage.word == "723456")
        stage.join("8", "9")
        stage.share("8")
        #expect(stage.word == "783456")
        #expect(stage.layout.tiles[1].source == .screen)
        stage.pin("9", .screen)
        #expect(stage.word == "783456", "a pin on a screen that is not shared waits")
        stage.share("9")
        #expect(stage.word == "789456")
        stage.share("8", false)
        stage.share("9", false)
        stage.pin("7", nil)
        #expect(stage.word == "789456", "who has a tile keeps it")
    }

    @Test("Of those who wait the last speaker is next, or else the first in the queue")
    func queue() {
        var stage = PlannedStage(LayoutSettings(gridSize: 2))
        stage.join("1", "2", "3", "4", "5")
        stage.speak("5")
        stage.speak("2")
        #expect(stage.word == "52")
        stage.leave("5")
        #expect(stage.word == "12")
        stage.speak("4")
        #expect(stage.word == "42")
        stage.speak("3")
        #expect(stage.word == "43")
        stage.leave("4")
        #expect(stage.word == "23", "2 spoke, 1 never did")
        stage.leave("2")
        #expect(stage.word == "13")
    }

    @Test("V24 with priority SPEAKER the floor goes before pins where not everybody finds a place, with PIN after them")
    func priorities() {
        for priority in LayoutSettings.Priority.allCases {
            var stage = PlannedStage(LayoutSettings(priority: priority, gridSize: 1))
            stage.join("1", "2")
            stage.pin("1")
            stage.speak("2")
            #expect(stage.word == (priority == .speaker ? "2" : "1"))
        }
    }

    @Test("A smaller grid keeps its first places, and a larger one fills up again")
    func gridSize() {
        var stage = seven()
        stage.set { $0.gridSize = 4 }
        #expect(stage.word == "1234")
        stage.set { $0.gridSize = 12 }
        #expect(stage.word == "1234567")
        stage.set { $0.gridSize = 1 }
        stage.speak("5")
        #expect(stage.word == "5")
    }

    @Test("Q1 over any course of events only a speaker, a pin or a screen takes a tile away, and only one each time")
    func anyCourse() {
        var generator = SeededGenerator(seed: 23)
        for round in 0..<60 {
            let settings = LayoutSettings(
                priority: round % 2 == 0 ? .speaker : .pin,
                gridSize: .random(in: 1...5, using: &generator),
                autoSwitchOnScreenShare: .random(using: &generator)
            )
            var stage = PlannedStage(settings)
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
                    stage.speak(Bool.random(using: &generator) ? sid : nil)
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
