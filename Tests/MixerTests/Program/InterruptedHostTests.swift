import Codecs
import Media
import Stage
import TestSupport
import Testing

@testable import Mixer

@Suite("Interrupted hosts", .enabled(if: TestRun.isFull)) struct InterruptedHostTests {
    /// Runs one red host without packets from `gap.lowerBound` to `gap.upperBound`, with two probes: the upper left
    /// corner, where a card has only its own colour, and the whole tile.
    private func makeProgram(gap: Range<Int64>, to end: Double) throws -> TestProgram {
        let program = try TestProgram()
        program.show(["a"])
        program.output.probes = [
            PixelRectangle(x: 4, y: 4, width: 40, height: 20), PixelRectangle(x: 0, y: 0, width: 320, height: 180),
        ]
        let packets = try HostClip.plain(.red, tone: nil).packets(from: 0, to: Int64(end) + 1000)
        program.feed("a", packets.filter { $0.isConfiguration || !gap.contains($0.timestamp) }) { Double($0) + 30 }
        program.run(to: end)
        return program
    }

    @Test("a long gap is frozen for two seconds, dimmed, then a card, and the first frame after it fades in smoothly")
    func longGap() throws {
        // The frame of host time t is shown at about t + 330.
        let program = try makeProgram(gap: 3000..<13_000, to: 15_000)
        for shown in program.output.frames {
            let time = program.time(of: shown.index)
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
        // On the way back every step is between card and frame: none is darker.
        let back = program.output.frames.filter { (13_000..<13_800).contains(program.time(of: $0.index)) }
        for (before, after) in zip(back, back.dropFirst()) {
            #expect(after.colours[0].v >= before.colours[0].v)
            #expect(Int(after.colours[0].v) - Int(before.colours[0].v) <= 24)
        }
    }

    /// The video packets before a host's first keyframe.
    enum Beginning: CaseIterable {
        case nothing, configurationOnly, framesOfEarlierGOP
    }

    @Test(
        "a host whose first keyframe is late is heard at once and shown as a card until then",
        arguments: Beginning.allCases
    )
    func lateKeyframe(beginning: Beginning) throws {
        let key = 5000
        let program = try TestProgram()
        program.show(["a"])
        program.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        let packets = try HostClip.plain(.red, tone: 440).packets(from: 0, to: 9000).filter { packet in
            guard packet.isVideo, packet.timestamp < key else { return true }
            return switch beginning {
            case .nothing: false
            case .configurationOnly: packet.isConfiguration
            case .framesOfEarlierGOP: !packet.isKeyframe
            }
        }
        let configuration = try HostClip.plain(.red, tone: 440).packets(from: Int64(key), to: Int64(key) + 1)
            .filter { $0.isVideo && $0.isConfiguration }
        program.feed("a", beginning == .nothing ? configuration + packets : packets) { Double($0) + 30 }
        program.run(to: 8500)
        for second in 1..<8 {
            let audio = program.output.audio(from: second * 1000, to: second * 1000 + 900)
            let power = audio.reduce(0.0) { $0 + Double($1 * $1) } / Double(max(audio.count, 1))
            #expect(power > 0.01, "second \(second): \(power)")
        }
        for shown in program.output.frames {
            switch program.time(of: shown.index) {
            case 1000..<5000: #expect(isNear(shown.colours[0], ProgramColours.emptyTile, within: 2))
            case 7500...: #expect(isNear(shown.colours[0], .red))
            default: continue
            }
        }
    }

    @Test("a gap of 1.5 seconds is invisible")
    func shortGap() throws {
        let program = try makeProgram(gap: 3000..<4500, to: 6000)
        let later = program.output.frames.filter { program.time(of: $0.index) > 1000 }
        #expect(later.allSatisfy { isNear($0.colours[0], .red) })
    }

    @Test("T6 a camera that is switched off is a card in the next frame, and its earlier video never returns")
    func privacy() throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        // Corners, where a card has only its own colour.
        program.output.probes = [
            PixelRectangle(x: 4, y: 4, width: 40, height: 20), PixelRectangle(x: 168, y: 4, width: 40, height: 20),
        ]
        program.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.run(to: 3000)
        var scene = TestProgram.grid(["a", "b"], width: TestProgram.size.width, height: TestProgram.size.height)
        let open = scene
        scene.tiles[0].source = .placeholder
        scene.concealed = ["a"]
        let first = program.output.frames.count
        program.renderer.apply(scene)
        program.run(to: 4000)
        for shown in program.output.frames[first...] {
            #expect(isNear(shown.colours[0], ProgramColours.emptyTile, within: 2), "picture \(shown.index)")
            #expect(isNear(shown.colours[1], .blue))
        }
        let second = program.output.frames.count
        program.renderer.apply(open)
        program.run(to: 5000)
        let back = program.output.frames[second...]
        #expect(isNear(try #require(back.last).colours[0], .red))
        for (before, after) in zip(back, back.dropFirst()) { #expect(after.colours[0].v >= before.colours[0].v) }
    }

    @Test("a camera that is switched off and loses its tile at once is in no frame of the fade-out")
    func concealedWhileLeaving() throws {
        let program = try TestProgram()
        program.show(["a", "b"])
        program.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: nil).packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.run(to: 3000)
        var scene = TestProgram.grid(["b"], width: TestProgram.size.width, height: TestProgram.size.height)
        scene.concealed = ["a"]
        program.output.probes = [PixelRectangle(x: 0, y: 0, width: 320, height: 180)]
        let first = program.output.frames.count
        program.renderer.apply(scene)
        program.run(to: 4000)
        #expect(program.output.frames[first...].allSatisfy { $0.colours[0].v <= 130 })
    }

    @Test("a static screen stays unchanged")
    func stillScreen() throws {
        let program = try TestProgram()
        var scene = TestProgram.grid(["a"], width: TestProgram.size.width, height: TestProgram.size.height)
        scene.tiles[0].source = .screen
        program.renderer.apply(scene)
        program.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        program.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 1000)) { Double($0) + 30 }
        program.run(to: 9000)
        let later = program.output.frames.filter { program.time(of: $0.index) > 1500 }
        #expect(later.count > 200 && later.allSatisfy { isNear($0.colours[0], .red) })
    }

    /// The way a host is hidden while its camera is switched off.
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
        "a source that is switched off and on again shows no frame from before or meanwhile",
        arguments: Hiding.allCases
    )
    func nothingFromBefore(hiding: Hiding) throws {
        let program = try TestProgram()
        // Red up to the moment of switching on again, in the middle of a GOP, blue from then on.
        let clip = try HostClip.make(
            paint: { canvas, index in canvas.fill(canvas.bounds, index < 195 ? .red : .blue) },
            sample: nil
        )
        let open = TestProgram.grid(["a", "b"], width: TestProgram.size.width, height: TestProgram.size.height)
        program.renderer.apply(open)
        program.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        program.feed("a", clip.packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.run(to: 2500)
        #expect(isNear(try #require(program.output.frames.last).colours[0], .red))
        program.renderer.apply(hiding.hide("a", in: open))
        program.run(to: 6520)
        let first = program.output.frames.count
        program.renderer.apply(open)
        program.run(to: 7500)
        let after = program.output.frames[first...]
        // Red and blue are on different sides of grey; fading from the slate takes 300 ms.
        for shown in after { #expect(shown.colours[0].v <= 131, "picture \(shown.index): \(shown.colours[0])") }
        #expect(isNear(try #require(after.last).colours[0], .blue))
    }

    @Test("a host that stopped sending is a card when it is revealed, not its old video")
    func nothingLeft() throws {
        let program = try TestProgram()
        let open = TestProgram.grid(["a", "b"], width: TestProgram.size.width, height: TestProgram.size.height)
        program.renderer.apply(open)
        program.output.probes = [PixelRectangle(x: 4, y: 4, width: 40, height: 20)]
        program.feed("a", try HostClip.plain(.red, tone: nil).packets(from: 0, to: 3000)) { Double($0) + 30 }
        program.run(to: 2900)
        // Hidden behind others first, so that a GOP is stored; then it is switched off.
        program.renderer.apply(Hiding.noTile.hide("nobody", in: open))
        program.run(to: 3200)
        program.renderer.apply(Hiding.noTile.hide("a", in: open))
        program.run(to: 6200)
        let first = program.output.frames.count
        program.renderer.apply(open)
        program.run(to: 7200)
        for shown in program.output.frames[first...] {
            #expect(shown.colours[0].v <= 131, "picture \(shown.index): \(shown.colours[0])")
        }
    }
}
