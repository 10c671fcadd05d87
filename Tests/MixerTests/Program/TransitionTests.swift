import Codecs
import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Transitions of a program", .enabled(if: TestRun.isFull)) struct TransitionTests {
    private func makeProgram(_ hosts: [String]) throws -> TestProgram {
        let program = try TestProgram()
        program.show(["a", "b", "c"])
        for (host, colour) in [("a", YUVColour.red), ("b", .blue), ("c", .green)] {
            let packets = try HostClip.plain(colour, tone: nil, frameRate: 15).packets(from: 0, to: 12_000)
            program.feed(host, packets) { Double($0) + 30 }
        }
        // All hosts have been shown, so that no first frame fades in as well.
        program.run(to: 1500)
        program.show(hosts)
        program.run(to: 2500)
        return program
    }

    private func scene(_ hosts: [String], transition: Int = 300) -> Scene {
        var scene = TestProgram.grid(hosts, width: TestProgram.size.width, height: TestProgram.size.height)
        scene.transition = transition
        return scene
    }

    /// Returns the frames after `scene` is applied.
    private func frames(
        of program: TestProgram,
        after scene: Scene,
        for length: Double = 1000
    ) -> ArraySlice<RecordingOutput.Shown> {
        let first = program.output.frames.count
        program.renderer.apply(scene)
        program.run(to: program.now + length)
        return program.output.frames[first...]
    }

    @Test("a tile narrows within 300 ms for another host, which fades in")
    func shrinksForNewTile() throws {
        let program = try makeProgram(["a"])
        // Where b's tile will be, and an area that stays a's.
        program.output.probes = [
            PixelRectangle(x: 240, y: 60, width: 40, height: 40), PixelRectangle(x: 60, y: 60, width: 40, height: 40),
        ]
        let shown = Array(frames(of: program, after: scene(["a", "b"])))
        #expect(shown.allSatisfy { isNear($0.colours[1], .red) })
        // The transition begins at the frame before, so the first one has moved already.
        #expect(!isNear(shown[0].colours[0], .blue))
        #expect(isNear(shown[8].colours[0], .blue) && shown[9...].allSatisfy { isNear($0.colours[0], .blue) })
        for (before, after) in zip(shown, shown.dropFirst()) {
            #expect(Int(after.colours[0].u) >= Int(before.colours[0].u) - 2)
        }
    }

    @Test("with 0 ms the new scene is there in the next frame")
    func atOnce() throws {
        let program = try makeProgram(["a"])
        program.output.probes = [PixelRectangle(x: 240, y: 60, width: 40, height: 40)]
        _ = frames(of: program, after: scene(["a", "b"], transition: 0))
        let shown = frames(of: program, after: scene(["b", "a"], transition: 0))
        #expect(shown.allSatisfy { isNear($0.colours[0], .red) })
    }

    @Test("L7 a change between fit and fill is animated without a jump")
    func fitAmount() throws {
        let program = try makeProgram(["a", "b"])
        // Half a tile is higher than wide: a fitted frame has bars above and below.
        program.output.probes = [PixelRectangle(x: 40, y: 0, width: 40, height: 48)]
        for mode in [Tile.ScaleMode.fit, .fill] {
            var next = scene(["a", "b"])
            next.tiles[0].scaleMode = mode
            let reds = frames(of: program, after: next).map { Int($0.colours[0].v) }
            #expect(abs(reds[0] - reds[20]) > 60, "\(reds)")
            let steps = zip(reds, reds.dropFirst()).map { mode == .fit ? $0 - $1 : $1 - $0 }
            #expect(steps.allSatisfy { (-2..<30).contains($0) } && steps.count { $0 > 3 } >= 5, "\(reds)")
            #expect(reds[9...].allSatisfy { abs($0 - reds[20]) <= 2 }, "\(reds)")
        }
    }

    @Test("a host that leaves fades out with its last frame, even after its input is removed")
    func leaves() throws {
        let program = try makeProgram(["a", "b"])
        program.output.probes = [PixelRectangle(x: 300, y: 4, width: 16, height: 16)]
        let first = program.output.frames.count
        program.renderer.apply(Scene())
        program.renderer.removeHost("b")
        program.run(to: program.now + 1000)
        let shown = program.output.frames[first...]
        #expect(isNear(try #require(shown.first).colours[0], .blue, within: 16))
        for (before, after) in zip(shown, shown.dropFirst()) { #expect(after.colours[0].u <= before.colours[0].u) }
        #expect(try #require(shown.last).colours[0] == ProgramColours.background)
    }

    @Test("a replaced host cross-fades, without showing the background")
    func replaces() throws {
        let program = try makeProgram(["a"])
        program.output.probes = [PixelRectangle(x: 100, y: 40, width: 40, height: 20)]
        _ = frames(of: program, after: scene(["a", "b", "c"]))
        _ = frames(of: program, after: scene(["a"]))
        let shown = frames(of: program, after: scene(["c"]))
        let (from, to) = (YUVColour.red, YUVColour.green)
        for colour in shown.map({ $0.colours[0] }) {
            let share = (Double(colour.v) - Double(from.v)) / (Double(to.v) - Double(from.v))
            let luma = Double(from.y) + share * (Double(to.y) - Double(from.y))
            #expect(abs(luma - Double(colour.y)) < 12, "\(colour)")
        }
        #expect(isNear(try #require(shown.last).colours[0], .green))
    }

    @Test("after a transition each host frame is scaled once again, and two runs are identical")
    func cheapAfterwards() throws {
        let program = try makeProgram(["a"])
        _ = frames(of: program, after: scene(["a", "b"]))
        let before = program.renderer.statistics
        program.run(to: program.now + 2000)
        let after = program.renderer.statistics
        // Two hosts at 15 frames a second.
        #expect(abs(after.tilesDrawn - before.tilesDrawn - 60) <= 2)
        #expect(after.frames - before.frames == 60)
        let other = try makeProgram(["a"])
        _ = frames(of: other, after: scene(["a", "b"]))
        other.run(to: other.now + 2000)
        #expect(other.output.frames.map(\.colours) == program.output.frames.map(\.colours))
    }

    @Test("a slate fades in over the tiles and out again, with no gap in the program")
    func slate() throws {
        let program = try makeProgram(["a", "b"])
        program.output.probes = [PixelRectangle(x: 8, y: 8, width: 24, height: 16)]
        let over = frames(of: program, after: Scene(slate: Slate(kind: .beRightBack)))
        for (before, after) in zip(over, over.dropFirst()) { #expect(after.colours[0].v <= before.colours[0].v) }
        #expect(isNear(try #require(over.last).colours[0], ProgramColours.background, within: 2))
        let words = program.renderer.newestCanvas.averageColour(
            of: PixelRectangle(x: 60, y: 60, width: 200, height: 60)
        )
        #expect(words.y > ProgramColours.background.y + 4)
        let back = frames(of: program, after: scene(["a", "b"]))
        for (before, after) in zip(back, back.dropFirst()) { #expect(after.colours[0].v >= before.colours[0].v) }
        #expect(isNear(try #require(back.last).colours[0], .red))
        let indices = program.output.frames.map(\.index)
        #expect(indices == Array(0..<Int64(indices.count)))
    }

    /// The gap between the tiles, and the corner of the card of a host without a camera.
    private static let backgroundProbes = [
        PixelRectangle(x: 158, y: 20, width: 4, height: 100), PixelRectangle(x: 200, y: 4, width: 60, height: 12),
    ]

    /// Returns the frames of two hosts, the second with a card, before and after their room's colours change.
    private func changeColours(transition: Int, _ change: (inout Scene) -> Void) throws -> [RecordingOutput.Shown] {
        let program = try makeProgram(["a", "b"])
        var scene = scene(["a", "b"], transition: 0)
        scene.tiles[1].source = .placeholder
        scene.concealed = ["b"]
        _ = frames(of: program, after: scene)
        program.output.probes = Self.backgroundProbes
        let image = try Canvas(width: 64, height: 36)
        image.fill(image.bounds, .green)
        program.renderer.provide(try image.png(), for: "asset:wall")
        _ = frames(of: program, after: scene)
        scene.transition = transition
        change(&scene)
        return Array(frames(of: program, after: scene))
    }

    @Test("another theme fades in over 300 ms, behind the tiles and on the cards")
    func theme() throws {
        let shown = try changeColours(transition: 300) { $0.colours = .light }
        for (index, colour) in [SceneColours.light.background, SceneColours.light.emptyTile].enumerated() {
            let lumas = shown.map { Int($0.colours[index].y) }
            #expect(zip(lumas, lumas.dropFirst()).allSatisfy { $1 >= $0 - 1 }, "\(index): \(lumas)")
            // Every step of the fade is visible, none is more than a third of it.
            let steps = zip(lumas, lumas.dropFirst()).map { $1 - $0 }
            #expect(
                (steps.max() ?? 0) < (lumas[20] - lumas[0]) / 3 && steps.count { $0 > 4 } >= 5,
                "\(index): \(lumas)"
            )
            #expect(shown[9...].allSatisfy { isNear($0.colours[index], colour, within: 2) }, "\(index): \(lumas)")
        }
    }

    @Test("a provided background image fades in, and with 0 ms both changes are there at once")
    func background() throws {
        let shown = try changeColours(transition: 300) { $0.decoration.background = "asset:wall" }
        let blues = shown.map { Int($0.colours[0].u) }
        #expect(zip(blues, blues.dropFirst()).allSatisfy { $1 <= $0 + 1 }, "\(blues)")
        #expect(!isNear(shown[3].colours[0], .green) && isNear(shown[14].colours[0], .green), "\(blues)")
        let changes: [((inout Scene) -> Void, YUVColour)] = [
            ({ $0.colours = .light }, SceneColours.light.background),
            ({ $0.decoration.background = "asset:wall" }, .green),
        ]
        for (change, colour) in changes {
            let shown = try changeColours(transition: 0, change)
            let first = shown.firstIndex { isNear($0.colours[0], colour) } ?? 99
            // An image has to be rendered first, beside the program.
            #expect(first <= 2, "\(first)")
            for frame in shown[..<first] { #expect(isNear(frame.colours[0], ProgramColours.background, within: 1)) }
        }
    }
}
