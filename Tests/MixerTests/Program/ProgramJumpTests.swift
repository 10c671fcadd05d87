import Codecs
import Media
import Stage
import Testing

@testable import Mixer

@Suite("A program that is more than a second late") struct ProgramJumpTests {
    @Test("counts the pictures that it left out, and makes all others")
    func jump() throws {
        let ring = try CanvasRing(width: 320, height: 180)
        let output = RecordingOutput(ring: ring)
        let core = ProgramCore(
            ProgramConfiguration(width: 320, height: 180),
            anchor: ProgramAnchor(start: MonotonicTime(nanoseconds: 0), firstSample: 0),
            ring: ring,
            output: output,
            wardrobe: Wardrobe(AssetShelf())
        )
        func run(from begin: Int, to end: Int) {
            for time in stride(from: begin, through: end, by: 10) {
                while core.step(at: Rehearsal.moment(Double(time))) == nil {}
            }
        }
        run(from: 0, to: 2000)
        // Late by less: all of it is caught up with.
        run(from: 2900, to: 3000)
        var statistics = core.snapshot(at: Rehearsal.moment(3000))
        #expect(statistics.jumps == 0 && statistics.jumpedPictures == 0)
        let pictures = statistics.pictures
        run(from: 5500, to: 6000)
        statistics = core.snapshot(at: Rehearsal.moment(6000))
        #expect(statistics.jumps == 1)
        #expect((73...75).contains(statistics.jumpedPictures), "\(statistics.jumpedPictures)")
        // Thirty a second, but for those.
        let made = statistics.pictures - pictures
        #expect((89...91).contains(made + statistics.jumpedPictures), "\(made)")
    }
}
