import Codecs
import Media
import NIOCore
import Stage
import Testing

@testable import Mixer

@Suite("How a host is seen says what is decoded of it") struct HostViewTests {
    private func tile(
        _ host: String,
        _ width: Int,
        _ height: Int,
        x: Int = 0,
        source: Tile.Source = .camera
    ) -> Tile {
        Tile(
            position: 0,
            participantSID: host,
            source: source,
            rectangle: TileRectangle(x: x, y: 0, width: width, height: height),
            scaleMode: .fill,
            label: host,
            isMicOn: true
        )
    }

    @Test("pictures that shrink by a quarter or more are decoded without the last polish, all others with it")
    func polish() {
        let size = (width: 1280, height: 720)
        let cases: [(width: Int, height: Int, economy: VideoDecoder.Economy)] = [
            (1280, 720, .none), (980, 536, .none), (960, 560, .none), (956, 536, .roughDisposable),
            (636, 356, .roughDisposable), (428, 240, .roughDisposable), (314, 720, .none),
        ]
        for group in [nil, 60, 1000] {
            for (width, height, economy) in cases {
                let view = HostView.tile(width: width, height: height)
                #expect(view.economy(of: size, group: group) == economy, "\(width)x\(height)")
            }
            #expect(HostView.tile(width: 314, height: 234).economy(of: nil, group: group) == .none)
            #expect(HostView.whole.economy(of: size, group: group) == .none)
            #expect(HostView.hidden.economy(of: size, group: group) == .none)
        }
    }

    @Test("of those made as small as a third none but key pictures are polished, if key pictures come often")
    func far() {
        let groups: [(Int?, VideoDecoder.Economy)] = [
            (nil, .roughDisposable), (1, .roughAll), (180, .roughAll), (181, .roughDisposable),
        ]
        for (group, economy) in groups {
            for (width, height) in [(420, 234), (424, 240), (314, 234)] {
                let view = HostView.tile(width: width, height: height)
                #expect(view.economy(of: (1280, 720), group: group) == economy, "\(width)x\(height)")
            }
        }
    }

    @Test("a decoder is told the size of the largest tile, and how a picture gets into it")
    func reduction() {
        let cut = HostView.tile(width: 637, height: 356)
        #expect(cut.reduction == PictureReduction(width: 636, height: 356, fit: .fill))
        let bars = HostView.tile(width: 636, height: 356, fit: .fit)
        #expect(bars.reduction == PictureReduction(width: 636, height: 356, fit: .fit))
        #expect(HostView.whole.reduction == nil && HostView.hidden.reduction == nil)
    }

    @Test("the largest of its tiles counts; who may not be seen is not hidden, and nobody is seen behind a slate")
    func scenes() {
        var scene = Scene(tiles: [tile("a", 200, 100), tile("b", 300, 200, x: 200), tile("a", 160, 120, x: 500)])
        scene.tiles.append(tile("c", 300, 200, x: 700, source: .screen))
        scene.tiles.append(tile("d", 300, 200, x: 1000, source: .placeholder))
        scene.concealed = ["e"]
        #expect(scene.view(of: "a") == .tile(width: 200, height: 120))
        #expect(scene.view(of: "b") == .tile(width: 300, height: 200))
        #expect(["c", "d", "e"].allSatisfy { scene.view(of: $0) == .whole })
        #expect(scene.view(of: "f") == .hidden)
        scene.slate = Slate(kind: .beRightBack)
        #expect(["a", "b", "c"].allSatisfy { scene.view(of: $0) == .hidden })
    }

    @Test("under another tile a host is hidden, unless an edge of it is seen or one of its other tiles")
    func covered() {
        let (small, large) = (tile("a", 200, 100, x: 40), tile("b", 300, 200))
        #expect(Scene(tiles: [small, large]).view(of: "a") == .hidden)
        #expect(Scene(tiles: [small, large]).view(of: "b") == .tile(width: 300, height: 200))
        #expect(Scene(tiles: [large, small]).view(of: "a") == .tile(width: 200, height: 100))
        #expect(Scene(tiles: [tile("a", 300, 200), large]).view(of: "a") == .hidden)
        let beyond = [tile("a", 302, 200), tile("a", 300, 201), tile("a", 200, 100, x: -2), tile("a", 260, 100, x: 41)]
        for other in beyond {
            #expect(Scene(tiles: [other, large]).view(of: "a") != .hidden, "\(other.rectangle)")
        }
        // What is no whole number of colours wide covers less than it says.
        #expect(Scene(tiles: [small, tile("b", 301, 200)]).view(of: "a") != .hidden)
        #expect(Scene(tiles: [small, tile("b", .max, .max)]).view(of: "a") != .hidden)
        #expect(Scene(tiles: [small, tile("a", 60, 40, x: 400), large]).view(of: "a") == .tile(width: 60, height: 40))
    }

    @Test("a host in no tile is decoded by its key pictures alone, and seen again it is at once where it should be")
    func comingBack() throws {
        // The luma of a picture says how old it is.
        let clip = try HostClip.make(
            paint: { canvas, index in
                canvas.fill(canvas.bounds, YUVColour(y: UInt8(30 + index % 60 * 3), u: 128, v: 128))
            },
            sample: nil
        )
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        rehearsal.feed("a", clip.packets(from: 0, to: 12_000)) { Double($0) + 30 }
        rehearsal.run(to: 2500)
        rehearsal.show(["b"])
        rehearsal.run(to: 3000)
        let before = rehearsal.host("a").pictures
        rehearsal.run(to: 9400)
        #expect(rehearsal.host("a").pictures - before <= 4)
        rehearsal.show(["a", "b"])
        rehearsal.run(to: 11_000)
        let seen = rehearsal.output.pictures.filter { rehearsal.time(of: $0.index) > 9800 }
        #expect(seen.count > 30)
        for shown in seen {
            let host = rehearsal.time(of: shown.index) - 330
            let expected = 30 + Int(host * 30 / 1000) % 60 * 3
            let distance = abs(Int(shown.colours[0].y) - expected)
            #expect(min(distance, 180 - distance) <= 6, "picture \(shown.index)")
        }
        #expect(rehearsal.host("a").decodeErrors == 0)
    }

    @Test("of a group without end nothing is kept, and the next key picture is waited for")
    func endless() {
        var hidden = HiddenPictures()
        func picture(_ isKey: Bool) -> MediaPacket {
            .h264Picture(isKey: isKey, isDisposable: false, timestamp: 0, compositionOffset: 0, capacity: 8) {
                $0.writeInteger(UInt32(1))
            }
        }
        var isTaken = hidden.append(picture(true))
        for _ in 1..<300 { isTaken = hidden.append(picture(false)) && isTaken }
        #expect(isTaken)
        isTaken = hidden.append(picture(false))
        #expect(!isTaken)
        var first = hidden.popFirst()
        #expect(first == nil)
        for _ in 0..<5 { isTaken = hidden.append(picture(true)) }
        first = hidden.popFirst()
        let second = hidden.popFirst()
        #expect(isTaken && first != nil && second == nil)
    }
}
