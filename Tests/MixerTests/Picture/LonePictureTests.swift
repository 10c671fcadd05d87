import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("One picture that is the whole program") struct LonePictureTests {
    private let size = Rehearsal.size

    private func picture(_ colour: YUVColour) throws -> Picture {
        let clip = try HostClip.plain(colour, tone: nil)
        var decoder = try VideoDecoder(configuration: clip.configuration[0])
        var result: Picture?
        for packet in clip.media.prefix(3) { try decoder.decode(packet) { result = $0 } }
        return try #require(result)
    }

    private func plan(_ hosts: [String], logo: Logo? = nil) -> TilePlan {
        var scene = Rehearsal.grid(hosts, width: size.width, height: size.height)
        scene.decoration.logo = logo
        return TilePlan(scene: scene, width: size.width, height: size.height)
    }

    @Test("it is shown as it is while nothing lies over it, and painted as soon as anything does")
    func shown() throws {
        let ring = try CanvasRing(width: size.width, height: size.height)
        var compositor = Compositor(ring: ring)
        var choreography = Choreography()
        func compose() throws -> Canvas {
            let canvas = compositor.compose(choreography, at: 0)
            return ring.canvases[try #require(canvas)]
        }
        let red = try picture(.red)
        #expect((red.width, red.height) == (size.width, size.height))
        choreography.move(to: plan(["a"]), at: 0, over: 0)
        compositor.rearrange(on: Ground())
        // Nothing to be seen yet.
        #expect(try compose().averageColour(of: PixelRectangle(x: 0, y: 0, width: 64, height: 64)) != .red)
        #expect(compositor.counters.shown == 0)
        choreography.show(TileContent(picture: red, serial: 1), at: 0)
        for count in 1...4 {
            #expect(isNear(try compose().colour(x: 20, y: 20), .red))
            #expect(compositor.counters.shown == count && compositor.counters.drawn == 0)
            if count == 2 { ring.lend(compositor.newest) }
        }
        // Dimmed it is no longer what the host sent.
        choreography.show(TileContent(picture: red, serial: 1, look: .init(dim: 100, card: 0)), at: 0)
        #expect(!isNear(try compose().colour(x: 20, y: 20), .red))
        #expect(compositor.counters.shown == 4 && compositor.counters.drawn == 1)
        // Beside another host it is one tile of two.
        choreography.move(to: plan(["a", "b"]), at: 0, over: 0)
        compositor.rearrange(on: Ground())
        choreography.show(TileContent(picture: red, serial: 2), at: 0)
        let both = try compose()
        #expect(isNear(both.colour(x: 20, y: 90), .red) && !isNear(both.colour(x: 300, y: 90), .red))
        #expect(compositor.counters.shown == 4)
        // Under a logo it is painted too, whether that is drawn yet or not.
        choreography.move(to: plan(["a"], logo: Logo(asset: "sign")), at: 0, over: 0)
        compositor.rearrange(on: Ground())
        choreography.show(TileContent(picture: red, serial: 3), at: 0)
        #expect(isNear(try compose().colour(x: 20, y: 20), .red))
        #expect(compositor.counters.shown == 4)
    }
}
