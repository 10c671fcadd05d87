import TestSupport
import Testing

@testable import Stage

@Suite("Every layout")
struct LayoutInvariantTests {
    private static let canvases = [
        (1280, 720), (1920, 1080), (854, 480), (640, 360), (720, 1280), (1080, 1920), (720, 720), (160, 90),
        (160, 1920),
        (1920, 90), (1366, 768),
    ]

    private func hosts(_ count: Int, using generator: inout SeededGenerator) -> [LayoutHost] {
        let dominant = Int.random(in: 0..<(count + 1), using: &generator)
        let types = PinType.allCases
        return (0..<count).map { number in
            LayoutHost(
                sid: "h\(number)",
                label: "Host \(number)",
                hasCamera: .random(using: &generator),
                hasScreen: Int.random(in: 0..<5, using: &generator) == 0,
                isMicOn: .random(using: &generator),
                pin: Int.random(in: 0..<3, using: &generator) == 0 ? types[number % types.count] : nil,
                pinnedAt: Double(number * 7 % 5),
                isDominantSpeaker: number == dominant,
                speakingOrder: number == dominant || Bool.random(using: &generator) ? number * 5 % 7 : nil
            )
        }
    }

    @Test(
        "D27 on every canvas tiles are even, apart, inside, and unique",
        arguments: LayoutSettings.Kind.allCases,
        LayoutSettings.Priority.allCases
    )
    func everyLayout(kind: LayoutSettings.Kind, priority: LayoutSettings.Priority) {
        var generator = SeededGenerator(seed: 27)
        for (width, height) in Self.canvases {
            var placements = TilePlacements()
            for count in 1...14 {
                let settings = LayoutSettings(
                    kind: kind,
                    priority: priority,
                    gridSize: Bool.random(using: &generator) ? 12 : .random(in: 1...12, using: &generator),
                    orientation: [nil, .landscape, .portrait].randomElement(using: &generator) ?? nil,
                    stripSize: Bool.random(using: &generator) ? nil : .random(in: 1...12, using: &generator),
                    autoSwitchOnScreenShare: .random(using: &generator)
                )
                let hosts = hosts(count, using: &generator)
                let planner = LayoutPlanner(
                    settings: settings,
                    width: width,
                    height: height,
                    isOrdered: .random(using: &generator)
                )
                let first = planner.plan(hosts, previous: placements)
                let again = planner.plan(hosts, previous: placements)
                #expect(first.layout == again.layout && first.places == again.places)
                #expect(planner.plan(hosts, previous: first.places).layout == first.layout, "a plan is stable")
                check(first.layout, hosts, "\(width)x\(height), \(count) hosts, \(settings)")
                placements = first.places
            }
        }
    }

    private func check(_ layout: LayoutView, _ hosts: [LayoutHost], _ comment: Comment) {
        let tiles = layout.tiles
        #expect(!tiles.isEmpty && tiles.count <= layout.settings.gridSize, comment)
        #expect(tiles.map(\.position) == Array(tiles.indices), comment)
        #expect(Set(tiles.map(\.participantSID)).count == tiles.count, comment)
        #expect(Set(tiles.map(\.participantSID)).isSubset(of: hosts.map(\.sid)), comment)
        for (index, tile) in tiles.enumerated() {
            let (place, host) = (tile.rectangle, hosts.first { $0.sid == tile.participantSID })
            #expect([place.x, place.y, place.width, place.height].allSatisfy { $0 % 2 == 0 && $0 >= 0 }, comment)
            #expect(place.width > 0 && place.height > 0, comment)
            #expect(place.x + place.width <= layout.width && place.y + place.height <= layout.height, comment)
            #expect(tile.source == host?.source && tile.label == host?.label && tile.isMicOn == host?.isMicOn, comment)
            if tile.source == .screen { #expect(tile.scaleMode == .fit, comment) }
            for other in tiles[(index + 1)...].map(\.rectangle) {
                let isApart =
                    place.x + place.width + GridLayout.gap <= other.x
                    || other.x + other.width + GridLayout.gap <= place.x
                    || place.y + place.height + GridLayout.gap <= other.y
                    || other.y + other.height + GridLayout.gap <= place.y
                #expect(isApart, comment)
            }
        }
    }
}
