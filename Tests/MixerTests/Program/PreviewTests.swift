import Codecs
import Media
import NIOCore
import Stage
import Testing
import TestSupport

@testable import Mixer

@Suite("Preview of a program that is backstage", .enabled(if: TestRun.isFull)) struct PreviewTests {
    private func twoHosts() throws -> (program: TestProgram, onAir: Scene, backstage: Scene) {
        let program = try TestProgram()
        program.show(["a", "b"])
        program.preview.probes = program.output.probes
        program.feed("a", try HostClip.plain(.red, tone: 440).packets(from: 0, to: 8000)) { Double($0) + 30 }
        program.feed("b", try HostClip.plain(.blue, tone: 880).packets(from: 0, to: 8000)) { Double($0) + 30 }
        var onAir = TestProgram.grid(["a", "b"], width: TestProgram.size.width, height: TestProgram.size.height)
        onAir.transition = 0
        var backstage = onAir
        backstage.audible = []
        backstage.talkback = ["a", "b"]
        backstage.previewTiles = onAir.tiles
        backstage.tiles = []
        backstage.slate = Slate(kind: .startingSoon)
        backstage.audio.returns = [Scene.previewMix]
        return (program, onAir, backstage)
    }

    @Test("shows and plays all hosts at half the rate, while the program shows the slate in silence")
    func backstage() throws {
        let (program, onAir, backstage) = try twoHosts()
        program.renderer.apply(backstage)
        program.run(to: 4000)
        #expect(program.returns.isPreviewShown)
        let hidden = program.output.frames
        #expect(
            hidden.allSatisfy { !isNear($0.colours[0], .red, within: 40) && !isNear($0.colours[1], .blue, within: 40) }
        )
        let shown = program.preview.frames.suffix(20)
        #expect(shown.allSatisfy { isNear($0.colours[0], .red) && isNear($0.colours[1], .blue) })
        #expect(program.preview.frames.allSatisfy { $0.index % 2 == 0 } && program.preview.frames.count >= 59)
        let audio = program.returns.audio(of: Scene.previewMix, from: 2000, to: 3800)
        for tone in [440.0, 880] {
            #expect(abs(TestTone.level(of: tone, in: audio) - 0.3) < 0.02)
            #expect(TestTone.level(of: tone, in: program.output.audio(from: 0, to: 3800)) < 0.001)
        }

        // The program takes over with its next frame, and the preview is over.
        let (count, last) = (program.output.frames.count, program.preview.frames.count)
        program.renderer.apply(onAir)
        program.run(to: 6000)
        #expect(program.preview.frames.count == last && !program.returns.isPreviewShown)
        #expect(
            program.output.frames[count...].allSatisfy { isNear($0.colours[0], .red) && isNear($0.colours[1], .blue) }
        )
        #expect(program.host("a").framesDropped == 0 || program.host("a").framesDropped < 130)

        program.renderer.apply(backstage)
        program.run(to: 7500)
        #expect(program.preview.frames.count > last + 20 && program.returns.isPreviewShown)
        let after = program.output.frames.suffix(40)
        #expect(after.allSatisfy { !isNear($0.colours[0], .red, within: 40) })
    }

    @Test("a host whose video is concealed is not in the preview either")
    func concealed() throws {
        let (program, _, backstage) = try twoHosts()
        var scene = backstage
        scene.previewTiles?[0].source = .placeholder
        scene.concealed = ["a"]
        program.renderer.apply(scene)
        program.run(to: 3000)
        let shown = program.preview.frames.suffix(20)
        #expect(shown.allSatisfy { !isNear($0.colours[0], .red, within: 40) && isNear($0.colours[1], .blue) })
    }

    @Test("an overloaded program has no preview")
    func degraded() throws {
        let (_, _, backstage) = try twoHosts()
        #expect(backstage.degraded(to: .fewerFrames).preview != nil)
        #expect(backstage.degraded(to: .fewerTiles).preview == nil)
    }

    @Test("the preview of no tiles is the slate")
    func noTiles() {
        let scene = Scene(slate: Slate(kind: .beRightBack), previewTiles: [])
        #expect(scene.preview?.slate?.kind == .beRightBack && scene.preview?.previewTiles == nil)
        #expect(Scene().preview == nil)
    }

    @Test(
        "its size is at most 640 pixels on the longer side, its rate about 15 frames per second",
        arguments: [
            (1280, 720, 30, 640, 360, 2), (1920, 1080, 60, 640, 360, 4), (720, 1280, 25, 360, 640, 2),
            (320, 180, 15, 320, 180, 1), (1920, 800, 10, 640, 266, 1),
        ]
    )
    func size(width: Int, height: Int, rate: Int, previewWidth: Int, previewHeight: Int, step: Int) {
        let program = ProgramConfiguration(width: width, height: height, frameRate: FrameRate(rate))
        let preview = Rendition(previewOf: program)
        #expect(preview.width == previewWidth && preview.height == previewHeight)
        #expect(preview.step(in: program) == step)
    }
}
