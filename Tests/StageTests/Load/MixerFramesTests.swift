import Media
import Testing

@testable import Stage

@Suite("Mixer frame statistics")
struct MixerFramesTests {
    @Test("counts each frame in the bucket of its time, the last one beyond all bounds")
    func buckets() {
        var frames = MixerFrames()
        for time in [0.001, 0.002, 0.0021, 0.012, 5] { frames.insert(time) }
        #expect(frames.counts == [2, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(abs(frames.seconds - 5.0171) < 1e-9)
    }

    @Test("rejects implausible statistics")
    func refused() {
        let counts = MixerFrames().counts
        #expect(MixerFrames(counts: Array(counts.dropLast()), seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in -1 }, seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts, seconds: -1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts, seconds: .nan, lost: [:]) == nil)
        let accepted = MixerFrames(counts: counts, seconds: 0, lost: [.encode: 3, .compose: -1])
        #expect(accepted?.lost == [.encode: 3])
    }

    @Test("a room has the latest frame statistics until its mixer stops")
    func latestReport() throws {
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

    @Test("rejects counts whose sum would overflow")
    func huge() {
        var counts = [Int](repeating: 1, count: MixerFrames.bounds.count + 1)
        #expect(MixerFrames(counts: counts, seconds: 1, lost: [:]) != nil)
        (counts[0], counts[1]) = (.max, .max)
        #expect(MixerFrames(counts: counts, seconds: 1, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in 0 }, seconds: 1e300, lost: [:]) == nil)
        #expect(MixerFrames(counts: counts.map { _ in 0 }, seconds: 1, lost: [.jump: .max])?.lost == [:])
    }
}
