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

    /// A compositor whose tiles are in their places at once.
    private struct Easel {
        let ring: CanvasRing
        var compositor: Compositor
        var choreography = Choreography()

        init() throws {
            ring = try CanvasRing(width: Rehearsal.size.width, height: Rehearsal.size.height)
            compositor = Compositor(ring: ring)
        }

        mutating func apply(_ scene: Scene) {
            choreography.move(to: CompositorTests.plan(scene), at: 0, over: 0)
            compositor.rearrange(on: Ground(colours: scene.colours))
        }

        mutating func show(_ picture: Picture, serial: Int64, at index: Int) {
            choreography.show(TileContent(picture: picture, serial: serial), at: index)
        }

        mutating func compose() -> Int? { compositor.compose(choreography, at: 0) }

        mutating func nextCanvas() throws -> Canvas {
            let canvas = compose()
            return ring.canvases[try #require(canvas)]
        }
    }

    private static func plan(_ scene: Scene) -> TilePlan {
        TilePlan(scene: scene, width: Rehearsal.size.width, height: Rehearsal.size.height)
    }

    @Test("A picture is scaled once and then left alone, or copied where the canvas is still being read")
    func once() throws {
        var easel = try Easel()
        let scene = Rehearsal.grid(["a", "b"], width: size.width, height: size.height)
        easel.apply(scene)
        let red = try picture(.red)
        easel.show(red, serial: 1, at: 0)
        for _ in 0..<9 {
            let canvas = try easel.nextCanvas()
            #expect(isNear(canvas.averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .red))
            let other = canvas.averageColour(of: Rehearsal.middle(of: scene.tiles[1].rectangle))
            #expect(other == ProgramColours.emptyTile)
        }
        #expect(easel.compositor.counters.drawn == 1)
        #expect(easel.compositor.counters.copied == 0)
        // As when the encoder is behind: the same picture on another canvas.
        easel.ring.lend(easel.compositor.newest)
        let second = try easel.nextCanvas()
        #expect(isNear(second.averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .red))
        #expect(easel.compositor.counters.drawn == 1)
        #expect(easel.compositor.counters.copied == 0)
        // The whole canvas was taken over from the other one.
        #expect(easel.compositor.counters.kept == 18)
        let blue = try picture(.blue)
        easel.show(blue, serial: 2, at: 0)
        let canvas = try easel.nextCanvas()
        #expect(isNear(canvas.averageColour(of: Rehearsal.middle(of: scene.tiles[0].rectangle)), .blue))
        #expect(easel.compositor.counters.drawn == 2)
    }

    @Test("Around the tiles lies the background, exactly where the grid says")
    func background() throws {
        var easel = try Easel()
        let scene = Rehearsal.grid(["a", "b"], width: size.width, height: size.height)
        easel.apply(scene)
        let red = try picture(.red)
        for place in 0..<2 { easel.show(red, serial: 1, at: place) }
        let canvas = try easel.nextCanvas()
        let (left, right) = (scene.tiles[0].rectangle, scene.tiles[1].rectangle)
        #expect(right.x - (left.x + left.width) == GridLayout.gap)
        let gap = PixelRectangle(x: left.x + left.width, y: left.y, width: GridLayout.gap, height: left.height)
        #expect(canvas.averageColour(of: gap) == ProgramColours.background)
        #expect(isNear(canvas.colour(x: left.x + left.width - 2, y: left.y + 10), .red))
        #expect(isNear(canvas.colour(x: right.x, y: right.y + 10), .red))
        easel.apply(Scene())
        let empty = try easel.nextCanvas()
        #expect(empty.averageColour(of: empty.bounds) == ProgramColours.background)
    }

    @Test("A canvas that is lent out is never painted; with all of them out there is none")
    func loans() throws {
        var easel = try Easel()
        var taken: Set<Int> = []
        for _ in 0..<CanvasRing.count {
            let composed = easel.compose()
            let canvas = try #require(composed)
            easel.ring.lend(canvas)
            taken.insert(canvas)
        }
        #expect(taken.count == CanvasRing.count)
        let none = easel.compose()
        #expect(none == nil)
        easel.ring.giveBack(1)
        let one = easel.compose()
        #expect(one == 1)
    }

    @Test("A tile over another one stays on top when the one below changes")
    func overlap() throws {
        var easel = try Easel()
        var scene = Rehearsal.grid(["a"], width: size.width, height: size.height)
        var small = scene.tiles[0]
        small.participantSID = "b"
        small.rectangle = TileRectangle(x: 40, y: 40, width: 80, height: 44)
        scene.tiles.append(small)
        easel.apply(scene)
        let (red, blue, green) = (try picture(.red), try picture(.blue), try picture(.green))
        easel.show(green, serial: 1, at: 1)
        for serial in Int64(1)...7 {
            easel.show(serial % 2 == 0 ? red : blue, serial: serial, at: 0)
            let canvas = try easel.nextCanvas()
            #expect(isNear(canvas.averageColour(of: PixelRectangle(x: 50, y: 50, width: 40, height: 20)), .green))
            #expect(isNear(canvas.colour(x: 200, y: 100), serial % 2 == 0 ? .red : .blue))
        }
    }

    /// The program of a large tile, with or without a smaller one under it, until that comes out; each with its name.
    private func perform(hasCovered: Bool) throws -> (program: ProgramFingerprint, drawn: Int64, decoded: Int64) {
        let ring = try CanvasRing(width: size.width, height: size.height)
        let output = FingerprintOutput(ring: ring)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: size.width, height: size.height),
            ring: ring,
            output: output
        )
        let looks: [(host: String, colour: YUVColour, x: Int)] = [("under", .blue, 200), ("over", .red, 40)]
        var scene = Rehearsal.grid(["under", "over"], width: size.width, height: size.height)
        scene.transition = 0
        scene.tiles[0].rectangle = TileRectangle(x: 60, y: 30, width: 160, height: 90)
        scene.tiles[1].rectangle = TileRectangle(x: 0, y: 0, width: 300, height: 180)
        scene.tiles[1].scaleMode = .fit
        if !hasCovered { scene.tiles.removeFirst() }
        renderer.apply(scene)
        var arrivals: [(input: HostInput, packet: MediaPacket)] = []
        for (host, colour, x) in looks {
            let input = renderer.addHost(host)
            // Something moves, so that every picture has to be painted.
            let clip = try HostClip.make(
                paint: { canvas, index in
                    canvas.fill(canvas.bounds, colour)
                    canvas.fill(PixelRectangle(x: x + index % 20 * 2, y: 60, width: 20, height: 20), .white)
                },
                sample: nil
            )
            arrivals += clip.packets(from: 0, to: 5000).map { (input, $0) }
        }
        arrivals.sort { $0.packet.timestamp < $1.packet.timestamp }
        var next = 0
        for time in stride(from: 0.0, through: 5000, by: 10) {
            while next < arrivals.count, Double(arrivals[next].packet.timestamp) <= time {
                arrivals[next].input.receive(arrivals[next].packet, arrival: Rehearsal.moment(time))
                next += 1
            }
            renderer.advance(to: Rehearsal.moment(time))
        }
        let decoded = renderer.statistics.hosts.first { $0.id == "under" }?.pictures ?? 0
        let result = (output.fingerprint, renderer.statistics.tilesDrawn, decoded)
        guard hasCovered else { return result }
        // Uncovered it is there, with its pictures.
        scene.tiles[1].rectangle = TileRectangle(x: 240, y: 0, width: 80, height: 180)
        renderer.apply(scene)
        renderer.advance(to: Rehearsal.moment(5300))
        let uncovered = renderer.newestCanvas.averageColour(of: PixelRectangle(x: 70, y: 40, width: 40, height: 30))
        #expect(isNear(uncovered, .blue))
        return result
    }

    @Test("A tile wholly under another one costs nothing, and the picture is bit for bit what it is without it")
    func covered() throws {
        let (with, without) = (try perform(hasCovered: true), try perform(hasCovered: false))
        #expect(with.program == without.program && with.program.pictures > 140)
        #expect(with.drawn == without.drawn && with.drawn > 100)
        // Its key pictures at most, as of a host that is in no tile.
        #expect(with.decoded <= 12, "\(with.decoded)")
    }

    @Test("Tiles that leave the canvas are cut, and absurd ones left out")
    func absurd() {
        var scene = Rehearsal.grid(["a", "b", "c"], width: size.width, height: size.height)
        scene.tiles[0].rectangle = TileRectangle(x: -100, y: -100, width: 151, height: 151)
        scene.tiles[1].rectangle = TileRectangle(x: 300, y: 0, width: .max, height: .max)
        scene.tiles[2].rectangle = TileRectangle(x: 10_000, y: .min, width: 10, height: -5)
        let places = Self.plan(scene).places
        #expect(
            places.map(\.rectangle) == [
                PixelRectangle(x: 0, y: 0, width: 50, height: 50),
                PixelRectangle(x: 300, y: 0, width: 20, height: 180),
            ]
        )
    }
}
