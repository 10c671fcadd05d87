import Codecs
import Stage
import Testing

@testable import Mixer

@Suite("Scene transitions") struct SceneTransitionTests {
    private static let length: Int64 = 14_400

    /// A tile for each host, from left to right, each 100 pixels wide.
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

    private func settled(_ plan: TilePlan) -> SceneTransition {
        var transition = SceneTransition()
        transition.move(to: plan, at: 0, over: 0)
        return transition
    }

    private func rectangles(_ transition: SceneTransition, at sample: Int64) -> [String: PixelRectangle] {
        let amount = transition.amount(at: sample)
        return Dictionary(
            transition.tiles.map { ($0.placement.host, $0.rectangle(at: amount).pixels) },
            uniquingKeysWith: { $1 }
        )
    }

    private func opacities(_ transition: SceneTransition, at sample: Int64) -> [String: Double] {
        let amount = transition.amount(at: sample)
        return Dictionary(
            transition.tiles.map { ($0.placement.host, $0.fade.opacity(at: amount)) },
            uniquingKeysWith: { $1 }
        )
    }

    @Test("the animation is eased at both ends, and begins and ends exactly")
    func easing() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["b", "a"]), at: 48_000, over: Self.length)
        #expect(transition.amount(at: 48_000) == 0)
        #expect(transition.amount(at: 48_000 + Self.length / 4) == 0.15625)
        #expect(transition.amount(at: 48_000 + Self.length / 2) == 0.5)
        #expect(transition.amount(at: 48_000 + Self.length) == 1)
        #expect(!transition.isMoving(at: 48_000 + Self.length))
    }

    @Test("two tiles that swap positions meet in the middle, on even pixels")
    func exchange() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["b", "a"]), at: 0, over: Self.length)
        #expect(rectangles(transition, at: 0)["a"]?.x == 0)
        #expect(rectangles(transition, at: Self.length / 4)["a"]?.x == 16)
        #expect(
            rectangles(transition, at: Self.length / 2) == [
                "a": PixelRectangle(x: 50, y: 0, width: 100, height: 100),
                "b": PixelRectangle(x: 50, y: 0, width: 100, height: 100),
            ]
        )
        #expect(rectangles(transition, at: Self.length)["a"]?.x == 100)
        #expect(opacities(transition, at: Self.length / 2) == ["a": 1, "b": 1])
    }

    @Test("D22 D23 a tile whose rectangle stays does not move while another host is replaced in place")
    func stationaryTile() {
        var transition = settled(plan(["a", "b", "c"]))
        transition.move(to: plan(["a", "x", "c"]), at: 0, over: Self.length)
        for step in Int64(0)...9 {
            let now = rectangles(transition, at: step * 1600)
            #expect(now["a"] == PixelRectangle(x: 0, y: 0, width: 100, height: 100))
            #expect(now["b"] == now["x"])
            #expect(now["c"] == PixelRectangle(x: 200, y: 0, width: 100, height: 100))
        }
        // The removed tile stays below the new one: nothing else shows through.
        #expect(opacities(transition, at: Self.length / 2) == ["a": 1, "b": 1, "x": 0.5, "c": 1])
        #expect(transition.tiles.map(\.placement.host) == ["b", "a", "x", "c"])
        transition.settle()
        #expect(transition.tiles.map(\.placement.host) == ["a", "x", "c"])
    }

    @Test("a tile that is removed and not replaced fades out in place")
    func fadesOut() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["a"]), at: 0, over: Self.length)
        #expect(opacities(transition, at: 0) == ["a": 1, "b": 1])
        #expect(opacities(transition, at: Self.length / 2) == ["a": 1, "b": 0.5])
        #expect(rectangles(transition, at: Self.length / 2)["b"]?.x == 100)
    }

    @Test("a change during a transition begins at the present positions")
    func interrupted() throws {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["b", "a"]), at: 0, over: Self.length)
        let middle = Self.length / 4
        let before = rectangles(transition, at: middle)
        transition.move(to: plan(["a", "c", "b"]), at: middle, over: Self.length)
        let after = rectangles(transition, at: middle)
        #expect(after["a"] == before["a"] && after["b"] == before["b"])
        #expect(opacities(transition, at: middle)["c"] == 0)
        #expect(rectangles(transition, at: middle + Self.length)["b"]?.x == 200)
    }

    @Test("nothing moves without a difference, or with a length of zero")
    func atOnce() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["a", "b"]), at: 0, over: Self.length)
        #expect(!transition.isMoving(at: 0))
        transition.move(to: plan(["b", "c"]), at: 0, over: 0)
        #expect(!transition.isMoving(at: 0))
        #expect(transition.tiles.map(\.placement.host) == ["b", "c"])
        #expect(rectangles(transition, at: 0)["b"]?.x == 0)
    }

    @Test("a concealed host is gone at once, and its replacement is there at once")
    func concealedTiles() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan(["a", "b.screen"]), at: 0, over: Self.length, concealed: ["b"])
        #expect(transition.tiles.map(\.placement.host) == ["a", "b.screen"])
        #expect(opacities(transition, at: 0) == ["a": 1, "b.screen": 1])
        transition.move(to: plan(["a"]), at: 0, over: Self.length)
        transition.relabel(plan(["a"]), concealed: ["b.screen"])
        #expect(transition.tiles.map(\.placement.host) == ["a"])
    }

    @Test("a slate fades in over the tiles and out again, and tiles below it do not fade")
    func slate() {
        var transition = settled(plan(["a", "b"]))
        transition.move(to: plan([], slate: Slate(kind: .beRightBack)), at: 0, over: Self.length)
        #expect(opacities(transition, at: Self.length / 2) == ["a": 1, "b": 1])
        #expect(transition.overlays[0].fade.opacity(at: transition.amount(at: Self.length / 2)) == 0.5)
        transition.settle()
        #expect(transition.tiles.isEmpty)
        transition.move(to: plan(["a", "b"]), at: 0, over: Self.length)
        #expect(opacities(transition, at: 0) == ["a": 1, "b": 1])
        #expect(transition.overlays[0].fade == Fade(start: 1, end: 0))
        transition.settle()
        #expect(transition.overlays.isEmpty)
    }

    @Test("a logo stays over a slate, and another logo replaces it with a fade")
    func logo() {
        let (one, two) = (Logo(asset: "asset:one"), Logo(asset: "asset:two"))
        var transition = settled(plan(["a"], logo: one))
        transition.move(to: plan([], slate: Slate(kind: .ended), logo: one), at: 0, over: Self.length)
        #expect(transition.overlays.map(\.layer) == [.slate(Slate(kind: .ended)), .logo(one)])
        #expect(transition.overlays[1].fade == .none)
        transition.settle()
        transition.move(to: plan([], slate: Slate(kind: .ended), logo: two), at: 0, over: Self.length)
        #expect(transition.overlays.map(\.layer) == [.slate(Slate(kind: .ended)), .logo(one), .logo(two)])
        #expect(transition.overlays[1].fade == Fade(start: 1, end: 0))
        #expect(transition.overlays[2].fade == Fade(start: 0, end: 1))
    }

    @Test("a second lower third fades in after the first has gone, so both are never visible")
    func lowerThirds() {
        func plan(_ title: String) -> TilePlan {
            let scene = Scene(decoration: Decoration(lowerThird: LowerThird(title: title)))
            return TilePlan(scene: scene, width: 320, height: 180)
        }
        var transition = SceneTransition()
        transition.move(to: plan("one"), at: 0, over: 0)
        transition.move(to: plan("two"), at: 0, over: 14_400)
        #expect(transition.overlays.count == 2)
        for sample in stride(from: Int64(0), through: 14_400, by: 480) {
            let amount = transition.amount(at: sample)
            let seen = transition.overlays.map { $0.fade.opacity(at: amount) }
            #expect(seen[0] == 0 || seen[1] == 0, "\(sample): \(seen)")
        }
        #expect(transition.overlays.map { $0.fade.opacity(at: 1) } == [0, 1])
        transition.settle()
        #expect(transition.overlays.count == 1 && transition.overlays[0].fade == .none)
    }
}
