import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("From one scene to another") struct TransitionTests {
    private func rehearse(_ hosts: [String]) throws -> Rehearsal {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b", "c"])
        for (host, colour) in [("a", YUVColour.red), ("b", .blue), ("c", .green)] {
            let packets = try HostClip.plain(colour, tone: nil, frameRate: 15).packets(from: 0, to: 12_000)
            rehearsal.feed(host, packets) { Double($0) + 30 }
        }
        // All have been seen, so that nobody's first picture fades in as well.
        rehearsal.run(to: 1500)
        rehearsal.show(hosts)
        rehearsal.run(to: 2500)
        return rehearsal
    }

    private func scene(_ hosts: [String], transition: Int = 300) -> Scene {
        var scene = Rehearsal.grid(hosts, width: Rehearsal.size.width, height: Rehearsal.size.height)
        scene.transition = transition
        return scene
    }

    /// The pictures from the moment on at which `scene` is applied.
    private func pictures(
        of rehearsal: Rehearsal,
        after scene: Scene,
        for length: Double = 1000
    ) -> ArraySlice<RecordingOutput.Shown> {
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(scene)
        rehearsal.run(to: rehearsal.now + length)
        return rehearsal.output.pictures[first...]
    }

    @Test("One host makes room for another: its tile narrows within 300 ms, and the new one fades in")
    func makesRoom() throws {
        let rehearsal = try rehearse(["a"])
        // Where b's tile will be, and a's stays in any case.
        rehearsal.output.probes = [
            PixelRectangle(x: 240, y: 60, width: 40, height: 40), PixelRectangle(x: 60, y: 60, width: 40, height: 40),
        ]
        let shown = Array(pictures(of: rehearsal, after: scene(["a", "b"])))
        #expect(shown.allSatisfy { isNear($0.colours[1], .red) })
        // The way begins at the picture before, so the first one has moved already.
        #expect(!isNear(shown[0].colours[0], .blue))
        #expect(isNear(shown[8].colours[0], .blue) && shown[9...].allSatisfy { isNear($0.colours[0], .blue) })
        for (before, after) in zip(shown, shown.dropFirst()) {
            #expect(Int(after.colours[0].u) >= Int(before.colours[0].u) - 2)
        }
    }

    @Test("With 0 ms the new scene is there in the next picture")
    func atOnce() throws {
        let rehearsal = try rehearse(["a"])
        rehearsal.output.probes = [PixelRectangle(x: 240, y: 60, width: 40, height: 40)]
        _ = pictures(of: rehearsal, after: scene(["a", "b"], transition: 0))
        let shown = pictures(of: rehearsal, after: scene(["b", "a"], transition: 0))
        #expect(shown.allSatisfy { isNear($0.colours[0], .red) })
    }

    @Test("L7 Whoever is to be seen whole, or is to fill the tile, gets there on the way and never by a leap")
    func wholeness() throws {
        let rehearsal = try rehearse(["a", "b"])
        // Half a tile is higher than wide: above and below a whole picture there are bars.
        rehearsal.output.probes = [PixelRectangle(x: 40, y: 0, width: 40, height: 48)]
        for mode in [Tile.ScaleMode.fit, .fill] {
            var next = scene(["a", "b"])
            next.tiles[0].scaleMode = mode
            let reds = pictures(of: rehearsal, after: next).map { Int($0.colours[0].v) }
            #expect(abs(reds[0] - reds[20]) > 60, "\(reds)")
            let steps = zip(reds, reds.dropFirst()).map { mode == .fit ? $0 - $1 : $1 - $0 }
            #expect(steps.allSatisfy { (-2..<30).contains($0) } && steps.count { $0 > 3 } >= 5, "\(reds)")
            #expect(reds[9...].allSatisfy { abs($0 - reds[20]) <= 2 }, "\(reds)")
        }
    }

    @Test("A host that leaves fades out with its last picture, also when its input is gone")
    func leaves() throws {
        let rehearsal = try rehearse(["a", "b"])
        rehearsal.output.probes = [PixelRectangle(x: 300, y: 4, width: 16, height: 16)]
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(Scene())
        rehearsal.renderer.removeHost("b")
        rehearsal.run(to: rehearsal.now + 1000)
        let shown = rehearsal.output.pictures[first...]
        #expect(isNear(try #require(shown.first).colours[0], .blue, within: 16))
        for (before, after) in zip(shown, shown.dropFirst()) { #expect(after.colours[0].u <= before.colours[0].u) }
        #expect(try #require(shown.last).colours[0] == ProgramColours.background)
    }

    @Test("One takes another's place in a cross-fade: nothing of the background is seen between them")
    func replaces() throws {
        let rehearsal = try rehearse(["a"])
        rehearsal.output.probes = [PixelRectangle(x: 100, y: 40, width: 40, height: 20)]
        _ = pictures(of: rehearsal, after: scene(["a", "b", "c"]))
        _ = pictures(of: rehearsal, after: scene(["a"]))
        let shown = pictures(of: rehearsal, after: scene(["c"]))
        let (from, to) = (YUVColour.red, YUVColour.green)
        for colour in shown.map({ $0.colours[0] }) {
            let share = (Double(colour.v) - Double(from.v)) / (Double(to.v) - Double(from.v))
            let luma = Double(from.y) + share * (Double(to.y) - Double(from.y))
            #expect(abs(luma - Double(colour.y)) < 12, "\(colour)")
        }
        #expect(isNear(try #require(shown.last).colours[0], .green))
    }

    @Test("After the way each picture of a host is scaled once again, and two runs are alike")
    func cheapAfterwards() throws {
        let rehearsal = try rehearse(["a"])
        _ = pictures(of: rehearsal, after: scene(["a", "b"]))
        let before = rehearsal.renderer.statistics
        rehearsal.run(to: rehearsal.now + 2000)
        let after = rehearsal.renderer.statistics
        // Two hosts of 15 pictures a second.
        #expect(abs(after.tilesDrawn - before.tilesDrawn - 60) <= 2)
        #expect(after.pictures - before.pictures == 60)
        let other = try rehearse(["a"])
        _ = pictures(of: other, after: scene(["a", "b"]))
        other.run(to: other.now + 2000)
        #expect(other.output.pictures.map(\.colours) == rehearsal.output.pictures.map(\.colours))
    }

    @Test("A slate fades in over the tiles and out again, with no gap in the program")
    func slate() throws {
        let rehearsal = try rehearse(["a", "b"])
        rehearsal.output.probes = [PixelRectangle(x: 8, y: 8, width: 24, height: 16)]
        let over = pictures(of: rehearsal, after: Scene(slate: Slate(kind: .beRightBack)))
        for (before, after) in zip(over, over.dropFirst()) { #expect(after.colours[0].v <= before.colours[0].v) }
        #expect(isNear(try #require(over.last).colours[0], ProgramColours.background, within: 2))
        let words = rehearsal.renderer.newestCanvas.averageColour(
            of: PixelRectangle(x: 60, y: 60, width: 200, height: 60)
        )
        #expect(words.y > ProgramColours.background.y + 4)
        let back = pictures(of: rehearsal, after: scene(["a", "b"]))
        for (before, after) in zip(back, back.dropFirst()) { #expect(after.colours[0].v >= before.colours[0].v) }
        #expect(isNear(try #require(back.last).colours[0], .red))
        let indices = rehearsal.output.pictures.map(\.index)
        #expect(indices == Array(0..<Int64(indices.count)))
    }

    /// The gap between the tiles, and the corner of the card of a host without a camera.
    private static let ground = [
        PixelRectangle(x: 158, y: 20, width: 4, height: 100), PixelRectangle(x: 200, y: 4, width: 60, height: 12),
    ]

    /// Two hosts, of whom the second has a card, before and after their room has other colours.
    private func recolour(transition: Int, _ change: (inout Scene) -> Void) throws -> [RecordingOutput.Shown] {
        let rehearsal = try rehearse(["a", "b"])
        var scene = scene(["a", "b"], transition: 0)
        scene.tiles[1].source = .placeholder
        scene.concealed = ["b"]
        _ = pictures(of: rehearsal, after: scene)
        rehearsal.output.probes = Self.ground
        let image = try Canvas(width: 64, height: 36)
        image.fill(image.bounds, .green)
        rehearsal.renderer.provide(try image.png(), for: "asset:wall")
        _ = pictures(of: rehearsal, after: scene)
        scene.transition = transition
        change(&scene)
        return Array(pictures(of: rehearsal, after: scene))
    }

    @Test("Another theme takes 300 ms to come, behind the tiles and on the cards")
    func theme() throws {
        let shown = try recolour(transition: 300) { $0.colours = .light }
        for (place, colour) in [SceneColours.light.background, SceneColours.light.emptyTile].enumerated() {
            let lumas = shown.map { Int($0.colours[place].y) }
            #expect(zip(lumas, lumas.dropFirst()).allSatisfy { $1 >= $0 - 1 }, "\(place): \(lumas)")
            // Every step of the way is seen, none is more than a third of it.
            let steps = zip(lumas, lumas.dropFirst()).map { $1 - $0 }
            #expect(
                (steps.max() ?? 0) < (lumas[20] - lumas[0]) / 3 && steps.count { $0 > 4 } >= 5,
                "\(place): \(lumas)"
            )
            #expect(shown[9...].allSatisfy { isNear($0.colours[place], colour, within: 2) }, "\(place): \(lumas)")
        }
    }

    @Test("So does a background image that is there already; with 0 ms both are there at once")
    func background() throws {
        let shown = try recolour(transition: 300) { $0.decoration.background = "asset:wall" }
        let blues = shown.map { Int($0.colours[0].u) }
        #expect(zip(blues, blues.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(blues)")
        #expect(!isNear(shown[3].colours[0], .green) && isNear(shown[14].colours[0], .green), "\(blues)")
        let changes: [((inout Scene) -> Void, YUVColour)] = [
            ({ $0.colours = .light }, SceneColours.light.background),
            ({ $0.decoration.background = "asset:wall" }, .green),
        ]
        for (change, colour) in changes {
            let cut = try recolour(transition: 0, change)
            let first = cut.firstIndex { isNear($0.colours[0], colour) } ?? 99
            // An image has to be painted first, beside the program.
            #expect(first <= 2, "\(first)")
            for picture in cut[..<first] { #expect(isNear(picture.colours[0], ProgramColours.background, within: 1)) }
        }
    }
}
