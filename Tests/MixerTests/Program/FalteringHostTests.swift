import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("A host that falters") struct FalteringHostTests {
    /// One host in red whose packets stay away from `gap.lowerBound` to `gap.upperBound`, looked at in two places: in the
    /// upper left corner, where a card has its own colour alone, and over all of the tile.
    private func rehearse(gap: Range<Int64>, to end: Double) throws -> Rehearsal {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.output.probes = [
            PixelRectangle(x: 4, y: 4, width: 40, height: 20), PixelRectangle(x: 0, y: 0, width: 320, height: 180),
        ]
        let packets = try HostClip.plain(.red, tone: nil).packets(from: 0, to: Int64(end) + 1000)
        rehearsal.feed("a", packets.filter { $0.isConfiguration || !gap.contains($0.timestamp) }) { Double($0) + 30 }
        rehearsal.run(to: end)
        return rehearsal
    }

    @Test("Frozen for two seconds, then dimmed, then the card; the first picture after it fades in without a flash")
    func longGap() throws {
        // The picture of host time t is shown at about t + 330.
        let rehearsal = try rehearse(gap: 3000..<13_000, to: 15_000)
        for shown in rehearsal.output.pictures {
            let time = rehearsal.time(of: shown.index)
            let corner = shown.colours[0]
            switch time {
            case 1000..<5250: #expect(isNear(corner, .red), "at \(time)")
            case 5700..<6000:
                let dimmed = YUVColour(y: UInt8(16 + (Int(YUVColour.red.y) - 16) * 2 / 5), u: 120, v: 162)
                #expect(isNear(corner, dimmed), "at \(time): \(corner)")
            case 6400..<13_200: #expect(isNear(corner, ProgramColours.emptyTile, within: 2), "at \(time): \(corner)")
            case 13_700...: #expect(isNear(corner, .red), "at \(time)")
            default: continue
            }
        }
        // On the way back every step is one from the card to the picture: none is darker, none is somewhere else.
        let back = rehearsal.output.pictures.filter { (13_000..<13_800).contains(rehearsal.time(of: $0.index)) }
        for (before, after) in zip(back, back.dropFirst()) {
            #expect(after.colours[0].v >= before.colours[0].v)
            #expect(Int(after.colours[0].v) - Int(before.colours[0].v) <= 24)
        }
    }

    /// What comes of a host's pictures before its first keyframe.
    enum Beginning: CaseIterable {
        case nothing, configurationOnly, picturesOfAnEarlierGroup
    }

    @Test(
        "A host whose first keyframe comes late is heard at once, and seen as its card until then",
        arguments: Beginning.allCases
    )
    func lateKeyframe(beginning: Beginning) throws {
        let key = 5000
        let rehearsal = try Rehearsal()
        rehearsal.show(["a"])
        rehearsal.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        let packets = try HostClip.plain(.red, tone: 440).packets(from: 0, to: 9000).filter { packet in
            guard packet.isVideo, packet.timestamp < key else { return true }
            return switch beginning {
            case .nothing: false
            case .configurationOnly: packet.isConfiguration
            case .picturesOfAnEarlierGroup: !packet.isKeyPicture
            }
        }
        let configuration = try HostClip.plain(.red, tone: 440).packets(from: Int64(key), to: Int64(key) + 1)
            .filter { $0.isVideo && $0.isConfiguration }
        rehearsal.feed("a", beginning == .nothing ? configuration + packets : packets) { Double($0) + 30 }
        rehearsal.run(to: 8500)
        for second in 1..<8 {
            let sound = rehearsal.output.sound(from: second * 1000, to: second * 1000 + 900)
            let power = sound.reduce(0.0) { $0 + Double($1 * $1) } / Double(max(sound.count, 1))
            #expect(power > 0.01, "second \(second): \(power)")
        }
        for shown in rehearsal.output.pictures {
            switch rehearsal.time(of: shown.index) {
            case 1000..<5000: #expect(isNear(shown.colours[0], ProgramColours.emptyTile, within: 2))
            case 7500...: #expect(isNear(shown.colours[0], .red))
            default: continue
            }
        }
    }

    @Test("A gap of a second and a half is not seen at all")
    func shortGap() throws {
        let rehearsal = try rehearse(gap: 3000..<4500, to: 6000)
        let later = rehearsal.output.pictures.filter { rehearsal.time(of: $0.index) > 1000 }
        #expect(later.allSatisfy { isNear($0.colours[0], .red) })
    }

    @Test("T6 A camera that is switched off is a card in the very next picture, and nothing of it is seen again")
    func privacy() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        // Corners, where a card has its own colour alone.
        rehearsal.output.probes = [
            PixelRectangle(x: 4, y: 4, width: 40, height: 20), PixelRectangle(x: 168, y: 4, width: 40, height: 20),
        ]
        rehearsal.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        rehearsal.run(to: 3000)
        var scene = Rehearsal.grid(["a", "b"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        let open = scene
        scene.tiles[0].source = .placeholder
        scene.concealed = ["a"]
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(scene)
        rehearsal.run(to: 4000)
        for shown in rehearsal.output.pictures[first...] {
            #expect(isNear(shown.colours[0], ProgramColours.emptyTile, within: 2), "picture \(shown.index)")
            #expect(isNear(shown.colours[1], .blue))
        }
        let second = rehearsal.output.pictures.count
        rehearsal.renderer.apply(open)
        rehearsal.run(to: 5000)
        let back = rehearsal.output.pictures[second...]
        #expect(isNear(try #require(back.last).colours[0], .red))
        for (before, after) in zip(back, back.dropFirst()) { #expect(after.colours[0].v >= before.colours[0].v) }
    }

    @Test("A camera that is switched off and leaves its tile at once is not in any picture on the way out")
    func privacyOnTheWayOut() throws {
        let rehearsal = try Rehearsal()
        rehearsal.show(["a", "b"])
        rehearsal.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        rehearsal.feed("b", try HostClip.plain(.blue, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        rehearsal.run(to: 3000)
        var scene = Rehearsal.grid(["b"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        scene.concealed = ["a"]
        rehearsal.output.probes = [PixelRectangle(x: 0, y: 0, width: 320, height: 180)]
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(scene)
        rehearsal.run(to: 4000)
        #expect(rehearsal.output.pictures[first...].allSatisfy { $0.colours[0].v <= 130 })
    }

    @Test("A screen on which nothing changes stays as it is, bright and in its place")
    func stillScreen() throws {
        let rehearsal = try Rehearsal()
        var scene = Rehearsal.grid(["a"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        scene.tiles[0].source = .screen
        rehearsal.renderer.apply(scene)
        rehearsal.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        rehearsal.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 1000)) { Double($0) + 30 }
        rehearsal.run(to: 9000)
        let later = rehearsal.output.pictures.filter { rehearsal.time(of: $0.index) > 1500 }
        #expect(later.count > 200 && later.allSatisfy { isNear($0.colours[0], .red) })
    }

    /// How a host is out of sight while its camera is switched off.
    enum Hiding: CaseIterable {
        case card, noTile, slate

        func hide(_ host: String, in scene: Scene) -> Scene {
            var scene = scene
            scene.concealed = [host]
            switch self {
            case .card: scene.tiles[0].source = .placeholder
            case .noTile: scene.tiles.removeFirst()
            case .slate: scene.slate = Slate(kind: .beRightBack)
            }
            return scene
        }
    }

    @Test(
        "A camera or a screen that is switched off and on again shows nothing of before and nothing of meanwhile",
        arguments: Hiding.allCases
    )
    func nothingOfBefore(hiding: Hiding) throws {
        let rehearsal = try Rehearsal()
        // Red up to the moment in which it is switched on again, in the middle of a group of pictures, blue from then on.
        let clip = try HostClip.make(
            paint: { canvas, index in canvas.fill(canvas.bounds, index < 195 ? .red : .blue) },
            sample: nil
        )
        let open = Rehearsal.grid(["a", "b"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        rehearsal.renderer.apply(open)
        rehearsal.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        rehearsal.feed("a", clip.packets(from: 0, to: 8000)) { Double($0) + 30 }
        rehearsal.run(to: 2500)
        #expect(isNear(try #require(rehearsal.output.pictures.last).colours[0], .red))
        rehearsal.renderer.apply(hiding.hide("a", in: open))
        rehearsal.run(to: 6520)
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(open)
        rehearsal.run(to: 7500)
        let after = rehearsal.output.pictures[first...]
        // The colour of red is on one side of grey, that of blue on the other; fading from the slate takes 300 ms.
        for shown in after { #expect(shown.colours[0].v <= 131, "picture \(shown.index): \(shown.colours[0])") }
        #expect(isNear(try #require(after.last).colours[0], .blue))
    }

    @Test("A host that sends nothing any more is a card when it may be seen again, not what it once was")
    func nothingLeft() throws {
        let rehearsal = try Rehearsal()
        let open = Rehearsal.grid(["a", "b"], width: Rehearsal.size.width, height: Rehearsal.size.height)
        rehearsal.renderer.apply(open)
        rehearsal.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        rehearsal.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 3000)) { Double($0) + 30 }
        rehearsal.run(to: 2900)
        // Behind others first, so that a group of its pictures is kept; then it is switched off.
        rehearsal.renderer.apply(Hiding.noTile.hide("nobody", in: open))
        rehearsal.run(to: 3200)
        rehearsal.renderer.apply(Hiding.noTile.hide("a", in: open))
        rehearsal.run(to: 6200)
        let first = rehearsal.output.pictures.count
        rehearsal.renderer.apply(open)
        rehearsal.run(to: 7200)
        for shown in rehearsal.output.pictures[first...] {
            #expect(shown.colours[0].v <= 131, "picture \(shown.index): \(shown.colours[0])")
        }
    }
}
