import Codecs
import Stage
import Testing

@testable import Mixer

@Suite("How one scene takes another's place") struct ChoreographyTests {
    private static let length: Int64 = 14_400

    /// A tile for each host; in order from left to right, 100 pixels wide.
    private func plan(_ hosts: [String], slate: Slate? = nil, logo: Logo? = nil) -> TilePlan {
        let tiles = hosts.enumerated().map { index, host in
            tile(host, TileRectangle(x: index * 100, y: 0, width: 100, height: 100))
        }
        return arranged(tiles, slate: slate, logo: logo)
    }

    private func arranged(_ tiles: [Tile], slate: Slate? = nil, logo: Logo? = nil) -> TilePlan {
        TilePlan(
            scene: Scene(tiles: tiles, decoration: Decoration(logo: logo), slate: slate),
            width: 640,
            height: 360
        )
    }

    private func tile(_ host: String, _ rectangle: TileRectangle) -> Tile {
        Tile(
            position: 0,
            participantSID: host,
            source: .camera,
            rectangle: rectangle,
            scaleMode: .fill,
            label: host,
            isMicOn: true
        )
    }

    private func settled(_ plan: TilePlan) -> Choreography {
        var choreography = Choreography()
        choreography.move(to: plan, at: 0, over: 0)
        return choreography
    }

    private func rectangles(_ choreography: Choreography, at sample: Int64) -> [String: PixelRectangle] {
        let amount = choreography.amount(at: sample)
        return Dictionary(
            choreography.actors.map { ($0.place.host, $0.frame(at: amount).pixels) },
            uniquingKeysWith: { $1 }
        )
    }

    private func opacities(_ choreography: Choreography, at sample: Int64) -> [String: Double] {
        let amount = choreography.amount(at: sample)
        return Dictionary(
            choreography.actors.map { ($0.place.host, $0.fade.opacity(at: amount)) },
            uniquingKeysWith: { $1 }
        )
    }

    @Test("The way is slow at both ends, and begins and ends exactly")
    func easing() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["b", "a"]), at: 48_000, over: Self.length)
        #expect(choreography.amount(at: 48_000) == 0)
        #expect(choreography.amount(at: 48_000 + Self.length / 4) == 0.15625)
        #expect(choreography.amount(at: 48_000 + Self.length / 2) == 0.5)
        #expect(choreography.amount(at: 48_000 + Self.length) == 1)
        #expect(!choreography.isMoving(at: 48_000 + Self.length))
    }

    @Test("Two tiles that change places meet in the middle, on even pixels")
    func exchange() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["b", "a"]), at: 0, over: Self.length)
        #expect(rectangles(choreography, at: 0)["a"]?.x == 0)
        #expect(rectangles(choreography, at: Self.length / 4)["a"]?.x == 16)
        #expect(
            rectangles(choreography, at: Self.length / 2) == [
                "a": PixelRectangle(x: 50, y: 0, width: 100, height: 100),
                "b": PixelRectangle(x: 50, y: 0, width: 100, height: 100),
            ]
        )
        #expect(rectangles(choreography, at: Self.length)["a"]?.x == 100)
        #expect(opacities(choreography, at: Self.length / 2) == ["a": 1, "b": 1])
    }

    @Test("D22 D23 whoever keeps its place does not move while another is replaced in its own")
    func keepsPlace() {
        var choreography = settled(plan(["a", "b", "c"]))
        choreography.move(to: plan(["a", "x", "c"]), at: 0, over: Self.length)
        for step in Int64(0)...9 {
            let now = rectangles(choreography, at: step * 1600)
            #expect(now["a"] == PixelRectangle(x: 0, y: 0, width: 100, height: 100))
            #expect(now["b"] == now["x"])
            #expect(now["c"] == PixelRectangle(x: 200, y: 0, width: 100, height: 100))
        }
        // The one that goes stays below the one that comes: nothing else shines through.
        #expect(opacities(choreography, at: Self.length / 2) == ["a": 1, "b": 1, "x": 0.5, "c": 1])
        #expect(choreography.actors.map(\.place.host) == ["b", "a", "x", "c"])
        choreography.settle()
        #expect(choreography.actors.map(\.place.host) == ["a", "x", "c"])
    }

    @Test("Whoever goes and is not replaced fades out where it was")
    func fadesOut() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["a"]), at: 0, over: Self.length)
        #expect(opacities(choreography, at: 0) == ["a": 1, "b": 1])
        #expect(opacities(choreography, at: Self.length / 2) == ["a": 1, "b": 0.5])
        #expect(rectangles(choreography, at: Self.length / 2)["b"]?.x == 100)
    }

    @Test("A change in the middle of another begins where things are")
    func interrupted() throws {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["b", "a"]), at: 0, over: Self.length)
        let middle = Self.length / 4
        let before = rectangles(choreography, at: middle)
        choreography.move(to: plan(["a", "c", "b"]), at: middle, over: Self.length)
        let after = rectangles(choreography, at: middle)
        #expect(after["a"] == before["a"] && after["b"] == before["b"])
        #expect(opacities(choreography, at: middle)["c"] == 0)
        #expect(rectangles(choreography, at: middle + Self.length)["b"]?.x == 200)
    }

    @Test("Nothing moves when nothing is another, and with a length of zero")
    func atOnce() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["a", "b"]), at: 0, over: Self.length)
        #expect(!choreography.isMoving(at: 0))
        choreography.move(to: plan(["b", "c"]), at: 0, over: 0)
        #expect(!choreography.isMoving(at: 0))
        #expect(choreography.actors.map(\.place.host) == ["b", "c"])
        #expect(rectangles(choreography, at: 0)["b"]?.x == 0)
    }

    @Test("Whoever must not be seen is gone at once, and what takes its place is there at once")
    func torn() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan(["a", "b.screen"]), at: 0, over: Self.length, concealed: ["b"])
        #expect(choreography.actors.map(\.place.host) == ["a", "b.screen"])
        #expect(opacities(choreography, at: 0) == ["a": 1, "b.screen": 1])
        choreography.move(to: plan(["a"]), at: 0, over: Self.length)
        choreography.reword(plan(["a"]), concealed: ["b.screen"])
        #expect(choreography.actors.map(\.place.host) == ["a"])
    }

    @Test("A slate fades in over the tiles and out again; below it nothing fades by itself")
    func slate() {
        var choreography = settled(plan(["a", "b"]))
        choreography.move(to: plan([], slate: Slate(kind: .beRightBack)), at: 0, over: Self.length)
        #expect(opacities(choreography, at: Self.length / 2) == ["a": 1, "b": 1])
        #expect(choreography.veils[0].fade.opacity(at: choreography.amount(at: Self.length / 2)) == 0.5)
        choreography.settle()
        #expect(choreography.actors.isEmpty)
        choreography.move(to: plan(["a", "b"]), at: 0, over: Self.length)
        #expect(opacities(choreography, at: 0) == ["a": 1, "b": 1])
        #expect(choreography.veils[0].fade == Fade(start: 1, end: 0))
        choreography.settle()
        #expect(choreography.veils.isEmpty)
    }

    @Test("A logo stays over a slate; another one takes its place in a fade")
    func logo() {
        let (one, two) = (Logo(asset: "asset:one"), Logo(asset: "asset:two"))
        var choreography = settled(plan(["a"], logo: one))
        choreography.move(to: plan([], slate: Slate(kind: .ended), logo: one), at: 0, over: Self.length)
        #expect(choreography.veils.map(\.layer) == [.slate(Slate(kind: .ended)), .logo(one)])
        #expect(choreography.veils[1].fade == .none)
        choreography.settle()
        choreography.move(to: plan([], slate: Slate(kind: .ended), logo: two), at: 0, over: Self.length)
        #expect(choreography.veils.map(\.layer) == [.slate(Slate(kind: .ended)), .logo(one), .logo(two)])
        #expect(choreography.veils[1].fade == Fade(start: 1, end: 0))
        #expect(choreography.veils[2].fade == Fade(start: 0, end: 1))
    }

    @Test("Another lower third comes when the one before has gone: never are both seen")
    func lowerThirds() {
        func plan(_ title: String) -> TilePlan {
            let scene = Scene(decoration: Decoration(lowerThird: LowerThird(title: title)))
            return TilePlan(scene: scene, width: 320, height: 180)
        }
        var choreography = Choreography()
        choreography.move(to: plan("one"), at: 0, over: 0)
        choreography.move(to: plan("two"), at: 0, over: 14_400)
        #expect(choreography.veils.count == 2)
        for sample in stride(from: Int64(0), through: 14_400, by: 480) {
            let amount = choreography.amount(at: sample)
            let seen = choreography.veils.map { $0.fade.opacity(at: amount) }
            #expect(seen[0] == 0 || seen[1] == 0, "\(sample): \(seen)")
        }
        #expect(choreography.veils.map { $0.fade.opacity(at: 1) } == [0, 1])
        choreography.settle()
        #expect(choreography.veils.count == 1 && choreography.veils[0].fade == .none)
    }
}
