import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("Which side of a host's picture is which") struct OrientationTests {
    private static let quarters: [YUVColour] = [.red, .green, .blue, .white]

    /// A host whose picture has another colour in each quarter: top left, top right, bottom left, bottom right.
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
            let rehearsal = try Rehearsal()
            var scene = Rehearsal.grid((0..<hosts).map { "\($0)" }, width: 320, height: 180)
            scene.decoration.showsNames = false
            scene.decoration.showsMicrophones = false
            for index in scene.tiles.indices { scene.tiles[index].scaleMode = mode }
            rehearsal.renderer.apply(scene)
            for index in 0..<hosts {
                rehearsal.feed("\(index)", try clip().packets(from: 0, to: 1500)) { Double($0) + 30 }
            }
            rehearsal.run(to: 1500)
            let canvas = rehearsal.renderer.newestCanvas
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
