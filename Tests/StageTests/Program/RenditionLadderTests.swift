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
        let upright = Rendition(.hd, isPortrait: true)
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

    @Test("rejects implausible sizes and rates in any order")
    func huge() {
        let huge = Rendition(name: "a", width: .max, height: .max, videoBitrate: .max)
        let ladder = RenditionLadder(renditions: [huge, Rendition(name: "b", width: .min, height: 2, videoBitrate: 1)])
        #expect(throws: StageError.self) { try ladder.validate(in: ProgramConfiguration()) }
    }
}

@Suite("Frame rates")
struct FrameRateTests {
    @Test("parses common notations of frame rates")
    func reading() {
        #expect(FrameRate("30") == FrameRate(30))
        #expect(FrameRate("29.97") == FrameRate(30000, per: 1001))
        #expect(FrameRate("30000/1001") == FrameRate("29.97"))
        for wrong in [
            "", "0", "61", "-30", "30/0", "1/2", "abc", "30/1/1", "25.5", "/",
            "9223372036854775807/9223372036854775807", "60000/2002",
        ] {
            #expect(FrameRate(wrong) == nil, "\(wrong)")
        }
    }

    @Test("29.97 frames per second fall on exact samples over a year")
    func exact() {
        let rate = FrameRate(30000, per: 1001)
        #expect(rate.sample(ofFrame: 30_000) == 1001 * 48_000)
        #expect(rate.sample(ofFrame: 30_000 * 31_536) == 1001 * 48_000 * 31_536)
        #expect(rate.sample(ofFrame: 1) == 1601)
    }

    @Test(
        "A stored rate is one that could be asked for",
        arguments: [(0, 1), (30, 0), (-30, 1), (61, 1), (.max, 1), (.max, .max)]
    )
    func stored(numerator: Int, denominator: Int) throws {
        let json = Data(#"{"numerator":\#(numerator),"denominator":\#(denominator)}"#.utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(FrameRate.self, from: json) }
        let rate = FrameRate(30000, per: 1001)
        #expect(try JSONDecoder().decode(FrameRate.self, from: JSONEncoder().encode(rate)) == rate)
    }
}
