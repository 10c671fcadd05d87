import Foundation
import Stage
import Testing

@Suite("Renditions of a program as settings")
struct RenditionLadderTests {
    private func refusal(_ rendition: Rendition, in program: ProgramConfiguration = .init()) -> StageError? {
        do throws(StageError) {
            try RenditionLadder(renditions: [rendition]).validate(in: program)
            return nil
        } catch {
            return error
        }
    }

    @Test("The usual sizes fit into a 1080p program, the largest first, and stand upright with it")
    func usual() throws {
        let ladder = RenditionLadder(renditions: [.init(.low), .init(.hd), .init(.standard)], hasAudioOnly: true)
        #expect(ladder.names == ["720p", "480p", "360p", "audio"])
        try ladder.validate(in: ProgramConfiguration(width: 1920, height: 1080))
        let upright = Rendition(.hd, isUpright: true)
        #expect((upright.width, upright.height) == (720, 1280))
        #expect(refusal(upright, in: ProgramConfiguration(width: 1080, height: 1920)) == nil)
    }

    @Test("A rendition is never larger than its program, and its rate divides the program's")
    func limits() {
        #expect(refusal(Rendition(.fullHD))?.code == 3073)
        var rendition = Rendition(.low)
        for (rate, isGood) in [(15, true), (10, true), (30, true), (20, false), (60, false), (7, false)] {
            rendition.frameRate = FrameRate(rate)
            #expect((refusal(rendition) == nil) == isGood, "\(rate)")
        }
        rendition.frameRate = nil
        rendition.width = 641
        #expect(refusal(rendition)?.code == 3073)
        for name in ["", "media", "index", "audio", "a_b", "a b", "a.b", "seventeen-letters"] {
            var named = Rendition(.low)
            named.name = name
            #expect(refusal(named)?.code == 3073, "\(name)")
        }
    }

    @Test("Two renditions of one name are refused, and settings without a ladder are read as before")
    func records() throws {
        let twice = RenditionLadder(renditions: [.init(.low), .init(.low)])
        #expect(throws: StageError.self) { try twice.validate(in: ProgramConfiguration()) }
        let plain = try JSONEncoder().encode(ProgramConfiguration())
        #expect(!String(decoding: plain, as: UTF8.self).contains("ladder"))
        #expect(try JSONDecoder().decode(ProgramConfiguration.self, from: plain) == ProgramConfiguration())
    }

    @Test("Sizes and rates that no picture has are refused, in whatever order they come")
    func huge() {
        let huge = Rendition(name: "a", width: .max, height: .max, videoBitrate: .max)
        let ladder = RenditionLadder(renditions: [huge, Rendition(name: "b", width: .min, height: 2, videoBitrate: 1)])
        #expect(throws: StageError.self) { try ladder.validate(in: ProgramConfiguration()) }
    }
}
