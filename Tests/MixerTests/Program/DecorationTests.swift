import Codecs
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("Overlays and background of a program") struct DecorationTests {
    /// Makes a program of two static hosts.
    private func makeProgram(_ change: (inout Scene) -> Void = { _ in }) throws -> TestProgram {
        let program = try TestProgram()
        program.renderer.apply(scene(change))
        for (host, colour) in [("a", YUVColour.red), ("b", .blue)] {
            let packets = try HostClip.plain(colour, tone: nil, frameRate: 15).packets(from: 0, to: 1000)
            program.feed(host, packets) { Double($0) + 30 }
        }
        program.run(to: 2000)
        return program
    }

    private func scene(_ change: (inout Scene) -> Void) -> Scene {
        var scene = TestProgram.grid(["a", "b"], width: TestProgram.size.width, height: TestProgram.size.height)
        scene.transition = 0
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        change(&scene)
        return scene
    }

    /// Returns whether a rectangle of the newest frame has a plain colour.
    private func isPlain(_ program: TestProgram, _ rectangle: PixelRectangle, _ colour: YUVColour) -> Bool {
        isNear(program.renderer.newestCanvas.averageColour(of: rectangle), colour, within: 4)
    }

    private func image(_ colour: YUVColour, width: Int, height: Int) throws -> ByteBuffer {
        let canvas = try Canvas(width: width, height: height)
        canvas.fill(canvas.bounds, colour)
        return try canvas.png()
    }

    private let lowerLeft = PixelRectangle(x: 4, y: 150, width: 60, height: 26)
    private let upperHalf = PixelRectangle(x: 0, y: 0, width: 150, height: 90)

    @Test("V8 name and microphone are at the lower left of each tile only, green when on, red when off")
    func tags() throws {
        let plain = try makeProgram()
        #expect(isPlain(plain, lowerLeft, .red))
        let program = try makeProgram { $0.decoration.showsMicrophones = true }
        #expect(!isPlain(program, PixelRectangle(x: 8, y: 154, width: 16, height: 16), .red))
        #expect(isPlain(program, upperHalf, .red))
        let canvas = program.renderer.newestCanvas
        #expect(hasColour(canvas, lowerLeft) { $0.green > 150 && $0.red < 130 })
        program.renderer.apply(
            scene { scene in
                scene.decoration.showsMicrophones = true
                scene.tiles[0].isMicOn = false
            }
        )
        program.run(to: 2200)
        let muted = program.renderer.newestCanvas
        #expect(!hasColour(muted, lowerLeft) { $0.green > 150 && $0.red < 130 })
        #expect(
            hasColour(muted, PixelRectangle(x: 168, y: 150, width: 60, height: 26)) { $0.green > 150 && $0.red < 130 }
        )
    }

    private func hasColour(
        _ canvas: Canvas,
        _ rectangle: PixelRectangle,
        _ isWanted: ((red: UInt8, green: UInt8, blue: UInt8)) -> Bool
    ) -> Bool {
        for y in rectangle.y..<rectangle.bottom {
            for x in rectangle.x..<rectangle.right where isWanted(canvas.colour(x: x, y: y).rgb) { return true }
        }
        return false
    }

    @Test("a changed name or microphone repaints that tile once, and nothing else")
    func onlyTheTag() throws {
        let program = try makeProgram { $0.decoration.showsNames = true }
        let before = program.renderer.statistics
        program.renderer.apply(
            scene { scene in
                scene.decoration.showsNames = true
                scene.tiles[1].label = "Somebody else"
            }
        )
        program.run(to: 2500)
        let after = program.renderer.statistics
        #expect(after.tilesDrawn - before.tilesDrawn == 1)
    }

    @Test("L9 in a strip a badge at the lower right shows that a microphone is off, and none that it is on")
    func badge() throws {
        let corner = PixelRectangle(x: 130, y: 150, width: 24, height: 26)
        for isOn in [true, false] {
            let program = try makeProgram { scene in
                scene.decoration.showsMicrophones = true
                scene.tiles[0].isInStrip = true
                scene.tiles[0].isMicOn = isOn
            }
            #expect(isPlain(program, lowerLeft, .red))
            #expect(isPlain(program, corner, .red) == isOn)
        }
    }

    @Test("a background image is shown between the tiles once it is provided, and its colour before")
    func background() throws {
        let gap = PixelRectangle(x: 156, y: 20, width: 8, height: 100)
        let program = try makeProgram { $0.decoration.background = "asset:wall" }
        #expect(program.renderer.newestCanvas.averageColour(of: gap) == ProgramColours.background)
        program.renderer.provide(try image(.green, width: 64, height: 36), for: "asset:wall")
        program.run(to: 2200)
        #expect(isPlain(program, gap, .green))
        #expect(isPlain(program, upperHalf, .red))
    }

    @Test("a logo lies in its corner with its opacity, and is removed without a trace", arguments: Logo.Corner.allCases)
    func logo(corner: Logo.Corner) throws {
        let program = try makeProgram { scene in
            scene.decoration.logo = Logo(asset: "asset:logo", corner: corner, opacity: 0.5, height: 0.2)
        }
        let bare = program.renderer.newestCanvas.averageColour(of: program.renderer.newestCanvas.bounds)
        program.renderer.provide(try image(.white, width: 64, height: 64), for: "asset:logo")
        program.run(to: 2200)
        let isLeft = corner == .topLeft || corner == .bottomLeft
        let isHigh = corner == .topLeft || corner == .topRight
        let area = PixelRectangle(x: isLeft ? 14 : 276, y: isHigh ? 14 : 136, width: 26, height: 26)
        let below = isLeft ? YUVColour.red : .blue
        let seen = program.renderer.newestCanvas.averageColour(of: area)
        #expect(abs(Int(seen.y) - (Int(below.y) + 235) / 2) <= 6, "\(seen)")
        program.renderer.apply(scene { _ in })
        program.run(to: 2400)
        let canvas = program.renderer.newestCanvas
        #expect(canvas.averageColour(of: canvas.bounds) == bare)
    }

    @Test("a lower third stays unchanged while the tiles below it are repainted")
    func lowerThird() throws {
        let program = try TestProgram()
        program.renderer.apply(
            scene { $0.decoration.lowerThird = LowerThird(title: "Ada Lovelace", subtitle: "London") }
        )
        let packets = try HostClip.plain(.red, tone: nil).packets(from: 0, to: 4000)
        program.feed("a", packets) { Double($0) + 30 }
        let panel = PixelRectangle(x: 16, y: 120, width: 100, height: 40)
        program.output.probes = [panel, upperHalf]
        program.run(to: 4000)
        let shown = program.output.frames.filter { program.time(of: $0.index) > 1500 }
        let first = try #require(shown.first)
        #expect(!isNear(first.colours[0], .red, within: 12))
        #expect(shown.allSatisfy { isNear($0.colours[0], first.colours[0], within: 2) && isNear($0.colours[1], .red) })
    }

    @Test("a lower third lies above a strip of tiles, and leaves the names in it readable")
    func lowerThirdAboveStrip() throws {
        let program = try makeProgram { scene in
            scene.decoration.lowerThird = LowerThird(title: "Ada Lovelace", subtitle: "London")
            let rectangles = SidebarLayout.rectangles(count: 2, width: 320, height: 180)
            for index in 0...1 { scene.tiles[index].rectangle = rectangles[index] }
            scene.tiles[1].isInStrip = true
        }
        #expect(isPlain(program, PixelRectangle(x: 124, y: 138, width: 70, height: 40), .blue))
        let above = PixelRectangle(x: 16, y: 90, width: 60, height: 26)
        #expect(!isPlain(program, above, .red))
        #expect(isPlain(program, PixelRectangle(x: 16, y: 120, width: 80, height: 6), .red), "a distance to the strip")
        program.renderer.apply(
            scene { $0.decoration.lowerThird = LowerThird(title: "Ada Lovelace", subtitle: "London") }
        )
        program.run(to: 2200)
        #expect(isPlain(program, above, .red), "at its usual place again")
    }

    @Test("a logo in a lower corner lies above a strip of tiles", arguments: [Logo.Corner.bottomLeft, .bottomRight])
    func logoAboveStrip(corner: Logo.Corner) throws {
        let rectangles = SidebarLayout.rectangles(count: 2, width: 320, height: 180)
        let program = try makeProgram { scene in
            scene.decoration.logo = Logo(asset: "asset:logo", corner: corner, height: 0.2)
            for index in 0...1 { scene.tiles[index].rectangle = rectangles[index] }
            scene.tiles[1].isInStrip = true
        }
        let strip = PixelRectangle(x: 0, y: rectangles[1].y, width: 320, height: 180 - rectangles[1].y)
        let bare = program.renderer.newestCanvas.averageColour(of: strip)
        program.renderer.provide(try image(.white, width: 64, height: 64), for: "asset:logo")
        program.run(to: 2200)
        #expect(program.renderer.newestCanvas.averageColour(of: strip) == bare)
        let x = corner == .bottomLeft ? 10 : 280
        #expect(isPlain(program, PixelRectangle(x: x, y: rectangles[1].y - 40, width: 28, height: 28), .white))
        // Without the strip it lies in its corner.
        program.renderer.apply(scene { $0.decoration.logo = Logo(asset: "asset:logo", corner: corner, height: 0.2) })
        program.run(to: 2400)
        #expect(isPlain(program, PixelRectangle(x: x, y: 142, width: 28, height: 28), .white))
    }

    @Test("a lower third lies beside a logo in its corner, and above the logo if it is too wide for that")
    func lowerThirdBesideLogo() throws {
        let logo = PixelRectangle(x: 10, y: 140, width: 30, height: 30)
        let usual = PixelRectangle(x: 18, y: 136, width: 60, height: 20)
        let program = try makeProgram { scene in
            scene.decoration.logo = Logo(asset: "asset:logo", corner: .bottomLeft, height: 0.2)
            scene.decoration.lowerThird = LowerThird(title: "Ada", subtitle: "London")
        }
        #expect(!isPlain(program, usual, .red), "there is no logo yet")
        program.renderer.provide(try image(.white, width: 64, height: 64), for: "asset:logo")
        program.run(to: 2200)
        #expect(isPlain(program, logo, .white))
        #expect(isPlain(program, PixelRectangle(x: 16, y: 128, width: 28, height: 8), .red))
        #expect(!isPlain(program, PixelRectangle(x: 52, y: 140, width: 20, height: 16), .red), "the panel is beside it")

        let title = String(repeating: "Ada Lovelace ", count: 6)
        for corner in [Logo.Corner.bottomLeft, .bottomRight] {
            program.renderer.apply(
                scene { scene in
                    scene.decoration.logo = Logo(asset: "asset:logo", corner: corner, height: 0.2)
                    scene.decoration.lowerThird = LowerThird(title: title, subtitle: "London")
                }
            )
            program.run(to: corner == .bottomLeft ? 2600 : 3000)
            let seen = corner == .bottomLeft ? logo : PixelRectangle(x: 280, y: 140, width: 30, height: 30)
            #expect(isPlain(program, seen, .white))
            #expect(isPlain(program, PixelRectangle(x: 60, y: 140, width: 80, height: 20), .red))
            #expect(!isPlain(program, PixelRectangle(x: 60, y: 106, width: 80, height: 20), .red), "above the logo")
        }
        // A logo above does not move it.
        program.renderer.apply(
            scene { scene in
                scene.decoration.logo = Logo(asset: "asset:logo", corner: .topLeft, height: 0.2)
                scene.decoration.lowerThird = LowerThird(title: "Ada", subtitle: "London")
            }
        )
        program.run(to: 3400)
        #expect(!isPlain(program, usual, .red))
    }

    @Test("a lower third leaves the name of the large tile readable on a tall canvas")
    func lowerThirdAboveTag() {
        let rectangles = SidebarLayout.rectangles(count: 2, width: 720, height: 1280)
        var tall = TestProgram.grid(["a", "b"], width: 720, height: 1280)
        for index in 0...1 { tall.tiles[index].rectangle = rectangles[index] }
        tall.tiles[1].isInStrip = true
        let plan = TilePlan(scene: tall, width: 720, height: 1280)
        #expect(plan.stripTop == 960 && plan.topOfTagOverStrip == 952 - 26 - 83)
        tall.decoration = Decoration(showsNames: false, showsMicrophones: false)
        #expect(TilePlan(scene: tall, width: 720, height: 1280).topOfTagOverStrip == 1280)
    }

    @Test("a ticker moves within its band only")
    func ticker() throws {
        let program = try makeProgram { $0.decoration.ticker = Ticker(text: String(repeating: "News ", count: 40)) }
        let band = TickerStrip.band(width: 320, height: 180)
        program.output.probes = (0..<8).map { PixelRectangle(x: $0 * 40, y: band.y, width: 40, height: band.height) }
        let before = program.renderer.statistics.tilesDrawn
        program.run(to: 3200)
        #expect(program.renderer.statistics.tilesDrawn == before)
        #expect(isPlain(program, upperHalf, .red))
        let shown = program.output.frames.suffix(30)
        #expect(Set(shown.map(\.colours)).count > 10)
    }
}
