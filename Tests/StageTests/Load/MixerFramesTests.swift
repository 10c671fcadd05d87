import Media
import Testing

@testable import Stage

@Suite("What became of a program's pictures")
struct MixerFramesTests {
    @Test("each picture is in the bucket of its time, those beyond all bounds in the last")
    func buckets() {
        var frames = MixerFrames()
        for time in [0.001, 0.002, 0.0021, 0.012, 5] { frames.insert(time) }
        #expect(frames.counts == [2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(abs(frames.seconds - 5.0171) < 1e-9)
    }

    @Test("what nobody can have counted is not taken")
    func refused() {
        let counts = MixerFrames().counts
        #expect(MixerFrames(counts: Array(counts.dropLast()), seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in -1 }, seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts, seconds: -1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts, seconds: .nan, lost: [:]) == nil)
        let taken = MixerFrames(counts: counts, seconds: 0, lost: [.encode: 3, .compose: -1])
        #expect(taken?.lost == [.encode: 3])
    }

    @Test("a room tells what its mixer said last, and nothing once that is gone")
    func told() throws {
        let directory = RoomDirectory(settings: .init(), clock: SystemClock(), pepper: [1])
        _ = try directory.create(RoomSettings(name: "show"))
        var frames = MixerFrames()
        frames.insert(0.01)
        try directory.report(room: "show", MixerReport(entries: [], frames: frames))
        try directory.report(room: "show", MixerReport(entries: []))
        #expect(try directory.room("show").frames == frames)
        directory.mixerStopped(room: "show")
        #expect(try directory.room("show").frames == nil)
    }

    @Test("Counts that no mixer can have counted are not believed, so that their sum is a number")
    func huge() {
        var counts = [Int](repeating: 1, count: MixerFrames.bounds.count + 1)
        #expect(MixerFrames(counts: counts, seconds: 1, lost: [:]) != nil)
        (counts[0], counts[1]) = (.max, .max)
        #expect(MixerFrames(counts: counts, seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in 0 }, seconds: 1e300, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in 0 }, seconds: 1, lost: [.jump: .max])?.lost == [:])
    }
}
