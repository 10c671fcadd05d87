import Codecs
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("What is painted over and behind the tiles") struct DecorationTests {
    /// A program of two still hosts; what moves in it moves by itself.
    private func rehearse(_ change: (inout Scene) -> Void = { _ in }) throws -> Rehearsal {
        let rehearsal = try Rehearsal()
        rehearsal.renderer.apply(scene(change))
        for (host, colour) in [("a", YUVColour.red), ("b", .blue)] {
            let packets = try HostClip.plain(colour, tone: nil, frameRate: 15).packets(from: 0, to: 1000)
            rehearsal.feed(host, packets) { Double($0) + 30 }
        }
        rehearsal.run(to: 2000)
        return rehearsal
    }

    private func scene(_ change: (inout Scene) -> Void) -> Scene {
        var scene = Rehearsal.grid(["a", "b"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        scene.transition = 0
        scene.decoration.showsNames = false
        scene.decoration.showsMicrophones = false
        change(&scene)
        return scene
    }

    /// Whether two rectangles of the newest picture and of a plain one are the same.
    private func isPlain(_ rehearsal: Rehearsal, _ rectangle: PixelRectangle, _ colour: YUVColour) -> Bool {
        isNear(rehearsal.renderer.newestCanvas.averageColour(of: rectangle), colour, within: 4)
    }

    private func image(_ colour: YUVColour, width: Int, height: Int) throws -> ByteBuffer {
        let canvas = try Canvas(width: width, height: height)
        canvas.fill(canvas.bounds, colour)
        return try canvas.png()
    }

    private let lowerLeft = PixelRectangle(x: 4, y: 150, width: 60, height: 26)
    private let upperHalf = PixelRectangle(x: 0, y: 0, width: 150, height: 90)

    @Test("V8 Name and microphone are at the lower left of each tile, green when on, red when off, and nowhere else")
    func tags() throws {
        let plain = try rehearse()
        #expect(isPlain(plain, lowerLeft, .red))
        let rehearsal = try rehearse { $0.decoration.showsMicrophones = true }
        #expect(!isPlain(rehearsal, PixelRectangle(x: 8, y: 154, width: 16, height: 16), .red))
        #expect(isPlain(rehearsal, upperHalf, .red))
        let canvas = rehearsal.renderer.newestCanvas
        #expect(hasColour(canvas, lowerLeft) { $0.green > 150 && $0.red < 130 })
        rehearsal.renderer.apply(
            scene { scene in
                scene.decoration.showsMicrophones = true
                scene.tiles[0].isMicOn = false
            }
        )
        rehearsal.run(to: 2200)
        let muted = rehearsal.renderer.newestCanvas
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

    @Test("Another name or microphone paints that tile once, and nothing else")
    func onlyTheTag() throws {
        let rehearsal = try rehearse { $0.decoration.showsNames = true }
        let before = rehearsal.renderer.statistics
        rehearsal.renderer.apply(
            scene { scene in
                scene.decoration.showsNames = true
                scene.tiles[1].label = "Somebody else"
            }
        )
        rehearsal.run(to: 2500)
        let after = rehearsal.renderer.statistics
        #expect(after.tilesDrawn - before.tilesDrawn == 1)
    }

    @Test("L9 In a strip a badge at the lower right says that a microphone is off, and none that it is on")
    func badge() throws {
        let corner = PixelRectangle(x: 130, y: 150, width: 24, height: 26)
        for isOn in [true, false] {
            let rehearsal = try rehearse { scene in
                scene.decoration.showsMicrophones = true
                scene.tiles[0].isInStrip = true
                scene.tiles[0].isMicOn = isOn
            }
            #expect(isPlain(rehearsal, lowerLeft, .red))
            #expect(isPlain(rehearsal, corner, .red) == isOn)
        }
    }

    @Test("A background image is seen between the tiles once it is there, its place has the colour before")
    func background() throws {
        let gap = PixelRectangle(x: 156, y: 20, width: 8, height: 100)
        let rehearsal = try rehearse { $0.decoration.background = "asset:wall" }
        #expect(rehearsal.renderer.newestCanvas.averageColour(of: gap) == ProgramColours.background)
        rehearsal.renderer.provide(try image(.green, width: 64, height: 36), for: "asset:wall")
        rehearsal.run(to: 2200)
        #expect(isPlain(rehearsal, gap, .green))
        #expect(isPlain(rehearsal, upperHalf, .red))
    }

    @Test("A logo lies in its corner with its opacity, and goes without a trace", arguments: Logo.Corner.allCases)
    func logo(corner: Logo.Corner) throws {
        let rehearsal = try rehearse { scene in
            scene.decoration.logo = Logo(asset: "asset:logo", corner: corner, opacity: 0.5, height: 0.2)
        }
        let bare = rehearsal.renderer.newestCanvas.averageColour(of: rehearsal.renderer.newestCanvas.bounds)
        rehearsal.renderer.provide(try image(.white, width: 64, height: 64), for: "asset:logo")
        rehearsal.run(to: 2200)
        let isLeft = corner == .topLeft || corner == .bottomLeft
        let isHigh = corner == .topLeft || corner == .topRight
        let place = PixelRectangle(x: isLeft ? 14 : 276, y: isHigh ? 14 : 136, width: 26, height: 26)
        let below = isLeft ? YUVColour.red : .blue
        let seen = rehearsal.renderer.newestCanvas.averageColour(of: place)
        #expect(abs(Int(seen.y) - (Int(below.y) + 235) / 2) <= 6, "\(seen)")
        rehearsal.renderer.apply(scene { _ in })
        rehearsal.run(to: 2400)
        let canvas = rehearsal.renderer.newestCanvas
        #expect(canvas.averageColour(of: canvas.bounds) == bare)
    }

    @Test("A lower third stays as it is while the tiles below it are painted again and again")
    func lowerThird() throws {
        let rehearsal = try Rehearsal()
        rehearsal.renderer.apply(
            scene { $0.decoration.lowerThird = LowerThird(title: "Ada Lovelace", subtitle: "London") }
        )
        let packets = try HostClip.plain(.red, tone: nil).packets(from: 0, to: 4000)
        rehearsal.feed("a", packets) { Double($0) + 30 }
        let panel = PixelRectangle(x: 16, y: 120, width: 100, height: 40)
        rehearsal.output.probes = [panel, upperHalf]
        rehearsal.run(to: 4000)
        let shown = rehearsal.output.pictures.filter { rehearsal.time(of: $0.index) > 1500 }
        let first = try #require(shown.first)
        #expect(!isNear(first.colours[0], .red, within: 12))
        #expect(shown.allSatisfy { isNear($0.colours[0], first.colours[0], within: 2) && isNear($0.colours[1], .red) })
    }

    @Test("A ticker runs along its band alone, and moves by the same way in every picture")
    func ticker() throws {
        let rehearsal = try rehearse { $0.decoration.ticker = Ticker(text: String(repeating: "News ", count: 40)) }
        let band = TickerStrip.band(width: 320, height: 180)
        rehearsal.output.probes = (0..<8).map { PixelRectangle(x: $0 * 40, y: band.y, width: 40, height: band.height) }
        let before = rehearsal.renderer.statistics.tilesDrawn
        rehearsal.run(to: 3200)
        #expect(rehearsal.renderer.statistics.tilesDrawn == before)
        #expect(isPlain(rehearsal, upperHalf, .red))
        let shown = rehearsal.output.pictures.suffix(30)
        #expect(Set(shown.map(\.colours)).count > 10)
    }
}
