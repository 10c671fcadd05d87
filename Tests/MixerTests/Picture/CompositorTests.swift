import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("Composing the picture") struct CompositorTests {
    private let size = Rehearsal.size

    private func picture(_ colour: YUVColour) throws -> Picture {
        let clip = try HostClip.plain(colour, tone: nil)
        var decoder = try VideoDecoder(configuration: clip.configuration[0])
        var result: Picture?
        for packet in clip.media.prefix(3) { try decoder.decode(packet) { result = $0 } }
        return try #require(result)
    }

    private func nextCanvas(of compositor: inout Compositor) throws -> Int {
        let canvas = compositor.compose()
        return try #require(canvas)
    }

    private func plan(_ scene: Scene, revision: Int) -> TilePlan {
        TilePlan(scene: scene, width: size.width, height: size.height, revision: revision)
    }

    @Test("A picture is scaled once and then left alone, or copied where the canvas is still being read")
    func once() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        let scene = Rehearsal.grid(["a", "b"], width: size.width, height: size.height)
        compositor.apply(plan(scene, revision: 1))
        let red = try picture(.red)
        compositor.show(Compositor.Content(picture: red, serial: 1), at: 0)
        for _ in 0..<9 {
            let canvas = try nextCanvas(of: &compositor)
            #expect(
                isNear(ring.canvases[canvas].averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .red)
            )
            let other = ring.canvases[canvas].averageColour(of: Rehearsal.middle(of: scene.tiles[1].rectangle))
            #expect(other == ProgramColours.emptyTile)
        }
        #expect(compositor.counters.drawn == 1)
        #expect(compositor.counters.copied == 0)
        // As when the encoder is behind: the same picture on another canvas.
        ring.lend(compositor.newest)
        let second = try nextCanvas(of: &compositor)
        #expect(isNear(ring.canvases[second].averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .red))
        #expect(compositor.counters.drawn == 1)
        #expect(compositor.counters.copied == 1)
        let blue = try picture(.blue)
        compositor.show(Compositor.Content(picture: blue, serial: 2), at: 0)
        let canvas = try nextCanvas(of: &compositor)
        #expect(isNear(ring.canvases[canvas].averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .blue))
        #expect(compositor.counters.drawn == 2)
    }

    @Test("Around the tiles lies the background, exactly where the grid says")
    func background() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        let scene = Rehearsal.grid(["a", "b"], width: size.width, height: size.height)
        compositor.apply(plan(scene, revision: 1))
        let red = try picture(.red)
        for place in 0..<2 { compositor.show(Compositor.Content(picture: red, serial: 1), at: place) }
        let canvas = ring.canvases[try nextCanvas(of: &compositor)]
        let (left, right) = (scene.tiles[0].rectangle, scene.tiles[1].rectangle)
        #expect(right.x - (left.x + left.width) == GridLayout.gap)
        let gap = PixelRectangle(x: left.x + left.width, y: left.y, width: GridLayout.gap, height: left.height)
        #expect(canvas.averageColour(of: gap) == ProgramColours.background)
        #expect(isNear(canvas.colour(x: left.x + left.width - 2, y: left.y + 10), .red))
        #expect(isNear(canvas.colour(x: right.x, y: right.y + 10), .red))
        compositor.apply(plan(Scene(), revision: 2))
        let empty = ring.canvases[try nextCanvas(of: &compositor)]
        #expect(empty.averageColour(of: empty.bounds) == ProgramColours.background)
    }

    @Test("A canvas that is lent out is never painted; with all of them out there is none")
    func loans() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        var taken: Set<Int> = []
        for _ in 0..<CanvasRing.count {
            let canvas = try nextCanvas(of: &compositor)
            ring.lend(canvas)
            taken.insert(canvas)
        }
        #expect(taken.count == CanvasRing.count)
        let none = compositor.compose()
        #expect(none == nil)
        ring.giveBack(1)
        let one = compositor.compose()
        #expect(one == 1)
    }

    @Test("A tile over another one stays on top when the one below changes")
    func overlap() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        var scene = Rehearsal.grid(["a"], width: size.width, height: size.height)
        var small = scene.tiles[0]
        small.participantSID = "b"
        small.rectangle = TileRectangle(x: 40, y: 40, width: 80, height: 44)
        scene.tiles.append(small)
        compositor.apply(plan(scene, revision: 1))
        let (red, blue, green) = (try picture(.red), try picture(.blue), try picture(.green))
        compositor.show(Compositor.Content(picture: green, serial: 1), at: 1)
        for serial in Int64(1)...7 {
            compositor.show(Compositor.Content(picture: serial % 2 == 0 ? red : blue, serial: serial), at: 0)
            let canvas = ring.canvases[try nextCanvas(of: &compositor)]
            #expect(isNear(canvas.averageColour(of: PixelRectangle(x: 50, y: 50, width: 40, height: 20)), .green))
            #expect(isNear(canvas.colour(x: 200, y: 100), serial % 2 == 0 ? .red : .blue))
        }
    }

    @Test("Tiles that leave the canvas are cut, and absurd ones left out")
    func absurd() {
        var scene = Rehearsal.grid(["a", "b", "c"], width: size.width, height: size.height)
        scene.tiles[0].rectangle = TileRectangle(x: -100, y: -100, width: 151, height: 151)
        scene.tiles[1].rectangle = TileRectangle(x: 300, y: 0, width: .max, height: .max)
        scene.tiles[2].rectangle = TileRectangle(x: 10_000, y: .min, width: 10, height: -5)
        let places = plan(scene, revision: 1).places
        #expect(
            places.map(\.rectangle) == [
                PixelRectangle(x: 0, y: 0, width: 50, height: 50),
                PixelRectangle(x: 300, y: 0, width: 20, height: 180),
            ]
        )
    }
}
