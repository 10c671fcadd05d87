import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("Compositor") struct CompositorTests {
    private let size = TestProgram.size

    private func frame(_ colour: YUVColour) throws -> VideoFrame {
        let clip = try HostClip.plain(colour, tone: nil)
        var decoder = try VideoDecoder(configuration: clip.configuration[0])
        var result: VideoFrame?
        for packet in clip.media.prefix(3) { try decoder.decode(packet) { result = $0 } }
        return try #require(result)
    }

    /// A compositor without transitions.
    private struct Fixture {
        let ring: CanvasRing
        var compositor: Compositor
        var transition = SceneTransition()

        init() throws {
            ring = try CanvasRing(width: TestProgram.size.width, height: TestProgram.size.height)
            compositor = Compositor(ring: ring)
        }

        mutating func apply(_ scene: Scene) {
            transition.move(to: CompositorTests.plan(scene), at: 0, over: 0)
            compositor.rearrange(on: SceneBackground(colours: scene.colours))
        }

        mutating func show(_ frame: VideoFrame, serial: Int64, at index: Int) {
            transition.show(TileContent(frame: frame, serial: serial), at: index)
        }

        mutating func compose() -> Int? { compositor.compose(transition, at: 0) }

        mutating func nextCanvas() throws -> Canvas {
            let canvas = compose()
            return ring.canvases[try #require(canvas)]
        }
    }

    private static func plan(_ scene: Scene) -> TilePlan {
        TilePlan(scene: scene, width: TestProgram.size.width, height: TestProgram.size.height)
    }

    @Test("a frame is scaled once and then left alone, or copied where the canvas is still being read")
    func once() throws {
        var fixture = try Fixture()
        let scene = TestProgram.grid(["a", "b"], width: size.width, height: size.height)
        fixture.apply(scene)
        let red = try frame(.red)
        fixture.show(red, serial: 1, at: 0)
        for _ in 0..<9 {
            let canvas = try fixture.nextCanvas()
            #expect(isNear(canvas.averageColour(of: TestProgram.middle(of: scene.tiles[0].rectangle)), .red))
            let other = canvas.averageColour(of: TestProgram.middle(of: scene.tiles[1].rectangle))
            #expect(other == ProgramColours.emptyTile)
        }
        #expect(fixture.compositor.counters.drawn == 1)
        #expect(fixture.compositor.counters.copied == 0)
        // As when the encoder is behind: the same frame on another canvas.
        fixture.ring.retain(fixture.compositor.newest)
        let second = try fixture.nextCanvas()
        #expect(isNear(second.averageColour(of: TestProgram.middle(of: scene.tiles[0].rectangle)), .red))
        #expect(fixture.compositor.counters.drawn == 1)
        #expect(fixture.compositor.counters.copied == 0)
        // The whole canvas was copied from the other one.
        #expect(fixture.compositor.counters.unchanged == 18)
        let blue = try frame(.blue)
        fixture.show(blue, serial: 2, at: 0)
        let canvas = try fixture.nextCanvas()
        #expect(isNear(canvas.averageColour(of: TestProgram.middle(of: scene.tiles[0].rectangle)), .blue))
        #expect(fixture.compositor.counters.drawn == 2)
    }

    @Test("the background lies around the tiles, exactly where the grid says")
    func background() throws {
        var fixture = try Fixture()
        let scene = TestProgram.grid(["a", "b"], width: size.width, height: size.height)
        fixture.apply(scene)
        let red = try frame(.red)
        for index in 0..<2 { fixture.show(red, serial: 1, at: index) }
        let canvas = try fixture.nextCanvas()
        let (left, right) = (scene.tiles[0].rectangle, scene.tiles[1].rectangle)
        #expect(right.x - (left.x + left.width) == GridLayout.gap)
        let gap = PixelRectangle(x: left.x + left.width, y: left.y, width: GridLayout.gap, height: left.height)
        #expect(canvas.averageColour(of: gap) == ProgramColours.background)
        #expect(isNear(canvas.colour(x: left.x + left.width - 2, y: left.y + 10), .red))
        #expect(isNear(canvas.colour(x: right.x, y: right.y + 10), .red))
        fixture.apply(Scene())
        let empty = try fixture.nextCanvas()
        #expect(empty.averageColour(of: empty.bounds) == ProgramColours.background)
    }

    @Test("a retained canvas is never painted, and none is free when all are retained")
    func loans() throws {
        var fixture = try Fixture()
        var taken: Set<Int> = []
        for _ in 0..<CanvasRing.count {
            let composed = fixture.compose()
            let canvas = try #require(composed)
            fixture.ring.retain(canvas)
            taken.insert(canvas)
        }
        #expect(taken.count == CanvasRing.count)
        let none = fixture.compose()
        #expect(none == nil)
        fixture.ring.release(1)
        let one = fixture.compose()
        #expect(one == 1)
    }

    @Test("an overlapping tile stays on top when the one below changes")
    func overlap() throws {
        var fixture = try Fixture()
        var scene = TestProgram.grid(["a"], width: size.width, height: size.height)
        var small = scene.tiles[0]
        small.participantSID = "b"
        small.rectangle = TileRectangle(x: 40, y: 40, width: 80, height: 44)
        scene.tiles.append(small)
        fixture.apply(scene)
        let (red, blue, green) = (try frame(.red), try frame(.blue), try frame(.green))
        fixture.show(green, serial: 1, at: 1)
        for serial in Int64(1)...7 {
            fixture.show(serial % 2 == 0 ? red : blue, serial: serial, at: 0)
            let canvas = try fixture.nextCanvas()
            #expect(isNear(canvas.averageColour(of: PixelRectangle(x: 50, y: 50, width: 40, height: 20)), .green))
            #expect(isNear(canvas.colour(x: 200, y: 100), serial % 2 == 0 ? .red : .blue))
        }
    }

    /// Renders a program of a large tile, with or without a smaller one under it, until that is uncovered; both with
    /// names.
    private func run(hasCovered: Bool) throws -> (program: ProgramFingerprint, drawn: Int64, decoded: Int64) {
        let ring = try CanvasRing(width: size.width, height: size.height)
        let output = FingerprintOutput(ring: ring)
        let renderer = ProgramRenderer(
            configuration: ProgramConfiguration(width: size.width, height: size.height),
            ring: ring,
            output: output
        )
        let hosts: [(host: String, colour: YUVColour, x: Int)] = [("under", .blue, 200), ("over", .red, 40)]
        var scene = TestProgram.grid(["under", "over"], width: size.width, height: size.height)
        scene.transition = 0
        scene.tiles[0].rectangle = TileRectangle(x: 60, y: 30, width: 160, height: 90)
        scene.tiles[1].rectangle = TileRectangle(x: 0, y: 0, width: 300, height: 180)
        scene.tiles[1].scaleMode = .fit
        if !hasCovered { scene.tiles.removeFirst() }
        renderer.apply(scene)
        var arrivals: [(input: HostInput, packet: MediaPacket)] = []
        for (host, colour, x) in hosts {
            let input = renderer.addHost(host)
            // Something moves, so that every frame has to be painted.
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
                arrivals[next].input.receive(arrivals[next].packet, arrival: TestProgram.moment(time))
                next += 1
            }
            renderer.advance(to: TestProgram.moment(time))
        }
        let decoded = renderer.statistics.hosts.first { $0.id == "under" }?.frames ?? 0
        let result = (output.fingerprint, renderer.statistics.tilesDrawn, decoded)
        guard hasCovered else { return result }
        // After uncovering, its video is shown.
        scene.tiles[1].rectangle = TileRectangle(x: 240, y: 0, width: 80, height: 180)
        renderer.apply(scene)
        renderer.advance(to: TestProgram.moment(5300))
        let uncovered = renderer.newestCanvas.averageColour(of: PixelRectangle(x: 70, y: 40, width: 40, height: 30))
        #expect(isNear(uncovered, .blue))
        return result
    }

    @Test("a completely covered tile costs nothing, and the output is identical to that without it")
    func covered() throws {
        let (with, without) = (try run(hasCovered: true), try run(hasCovered: false))
        #expect(with.program == without.program && with.program.frames > 140)
        #expect(with.drawn == without.drawn && with.drawn > 100)
        // At most its keyframes, as for a host without a tile.
        #expect(with.decoded <= 12, "\(with.decoded)")
    }

    @Test("tiles beyond the canvas are clipped, and invalid ones left out")
    func extremeCoordinates() {
        var scene = TestProgram.grid(["a", "b", "c"], width: size.width, height: size.height)
        scene.tiles[0].rectangle = TileRectangle(x: -100, y: -100, width: 151, height: 151)
        scene.tiles[1].rectangle = TileRectangle(x: 300, y: 0, width: .max, height: .max)
        scene.tiles[2].rectangle = TileRectangle(x: 10_000, y: .min, width: 10, height: -5)
        let placements = Self.plan(scene).placements
        #expect(
            placements.map(\.rectangle) == [
                PixelRectangle(x: 0, y: 0, width: 50, height: 50),
                PixelRectangle(x: 300, y: 0, width: 20, height: 180),
            ]
        )
    }
}

@Suite("A single frame as the whole program") struct SingleFrameProgramTests {
    private let size = TestProgram.size

    private func frame(_ colour: YUVColour) throws -> VideoFrame {
        let clip = try HostClip.plain(colour, tone: nil)
        var decoder = try VideoDecoder(configuration: clip.configuration[0])
        var result: VideoFrame?
        for packet in clip.media.prefix(3) { try decoder.decode(packet) { result = $0 } }
        return try #require(result)
    }

    private func plan(_ hosts: [String], logo: Logo? = nil) -> TilePlan {
        var scene = TestProgram.grid(hosts, width: size.width, height: size.height)
        scene.decoration.logo = logo
        return TilePlan(scene: scene, width: size.width, height: size.height)
    }

    @Test("the frame is passed on unpainted while nothing lies over it, and painted otherwise")
    func shown() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        var transition = SceneTransition()
        func compose() throws -> Canvas {
            let canvas = compositor.compose(transition, at: 0)
            return ring.canvases[try #require(canvas)]
        }
        let red = try frame(.red)
        #expect((red.width, red.height) == (size.width, size.height))
        transition.move(to: plan(["a"]), at: 0, over: 0)
        compositor.rearrange(on: SceneBackground())
        // No frame yet.
        #expect(try compose().averageColour(of: PixelRectangle(x: 0, y: 0, width: 64, height: 64)) != .red)
        #expect(compositor.counters.shown == 0)
        transition.show(TileContent(frame: red, serial: 1), at: 0)
        for count in 1...4 {
            #expect(isNear(try compose().colour(x: 20, y: 20), .red))
            #expect(compositor.counters.shown == count && compositor.counters.drawn == 0)
            if count == 2 { ring.retain(compositor.newest) }
        }
        // A dimmed frame is no longer what the host sent.
        transition.show(TileContent(frame: red, serial: 1, appearance: .init(dim: 100, card: 0)), at: 0)
        #expect(!isNear(try compose().colour(x: 20, y: 20), .red))
        #expect(compositor.counters.shown == 4 && compositor.counters.drawn == 1)
        // Beside another host it is one of two tiles.
        transition.move(to: plan(["a", "b"]), at: 0, over: 0)
        compositor.rearrange(on: SceneBackground())
        transition.show(TileContent(frame: red, serial: 2), at: 0)
        let both = try compose()
        #expect(isNear(both.colour(x: 20, y: 90), .red) && !isNear(both.colour(x: 300, y: 90), .red))
        #expect(compositor.counters.shown == 4)
        // Under a logo it is painted too, whether the logo is rendered yet or not.
        transition.move(to: plan(["a"], logo: Logo(asset: "sign")), at: 0, over: 0)
        compositor.rearrange(on: SceneBackground())
        transition.show(TileContent(frame: red, serial: 3), at: 0)
        #expect(isNear(try compose().colour(x: 20, y: 20), .red))
        #expect(compositor.counters.shown == 4)
    }
}

@Suite("Orientation of a host's video") struct OrientationTests {
    private static let quarters: [YUVColour] = [.red, .green, .blue, .white]

    /// A host whose video has another colour in each quarter: top left, top right, bottom left, bottom right.
    private func clip() throws -> HostClip {
        try HostClip.make(
            width: 320,
            height: 180,
            frameRate: 10,
            paint: { canvas, _ in
                for (index, colour) in Self.quarters.enumerated() {
                    let (x, y) = (index % 2 * 160, index / 2 * 90)
                    canvas.fill(PixelRectangle(x: x, y: y, width: 160, height: 90), colour)
                }
            },
            sample: nil
        )
    }

    @Test("D30 D29 left stays left and top stays top, small or large, fitted or filled", arguments: [1, 2, 4])
    func sides(hosts: Int) throws {
        for mode in [Tile.ScaleMode.fill, .fit] {
            let program = try TestProgram()
            var scene = TestProgram.grid((0..<hosts).map { "\($0)" }, width: 320, height: 180)
            scene.decoration.showsNames = false
            scene.decoration.showsMicrophones = false
            for index in scene.tiles.indices { scene.tiles[index].scaleMode = mode }
            program.renderer.apply(scene)
            for index in 0..<hosts {
                program.feed("\(index)", try clip().packets(from: 0, to: 1500)) { Double($0) + 30 }
            }
            program.run(to: 1500)
            let canvas = program.renderer.newestCanvas
            for tile in scene.tiles.map(\.rectangle) {
                let (middleX, middleY) = (tile.x + tile.width / 2, tile.y + tile.height / 2)
                // Near the middle, which neither bars nor crops reach.
                let (stepX, stepY) = (tile.width / 8, tile.height / 8)
                for (index, colour) in Self.quarters.enumerated() {
                    let (x, y) = (
                        index % 2 == 0 ? middleX - stepX : middleX, index / 2 == 0 ? middleY - stepY : middleY
                    )
                    let (left, top) = ((x + 3) & ~1, (y + 3) & ~1)
                    let seen = canvas.averageColour(
                        of: PixelRectangle(
                            x: left,
                            y: top,
                            width: max(stepX - 6, 2) & ~1,
                            height: max(stepY - 6, 2) & ~1
                        )
                    )
                    #expect(isNear(seen, colour, within: 24), "\(hosts) hosts, \(mode), quarter \(index): \(seen)")
                }
            }
        }
    }
}
