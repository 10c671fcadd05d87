import Media
import Testing

@Suite("A program's clock over changes of publisher")
struct ProgramTimelineTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test("the first publisher begins at zero wherever its own clock stands")
    func firstPublisher() {
        var timeline = ProgramTimeline()
        #expect(timeline.place(90_000, arrival: start) == 0)
        #expect(timeline.place(90_033, arrival: start.advanced(milliseconds: 33)) == 33)
    }

    @Test("a new publisher continues after as long a gap as really passed")
    func takeover() {
        var timeline = ProgramTimeline()
        _ = timeline.place(0, arrival: start)
        _ = timeline.place(1_000, arrival: start.advanced(milliseconds: 1_000))
        timeline.beginPublisher()
        #expect(timeline.place(0, arrival: start.advanced(milliseconds: 2_400)) == 2_400)
        #expect(timeline.place(40, arrival: start.advanced(milliseconds: 2_440)) == 2_440)
    }

    @Test("time never steps back, not even when a packet is late")
    func monotonic() {
        var timeline = ProgramTimeline()
        _ = timeline.place(100, arrival: start)
        _ = timeline.place(140, arrival: start)
        #expect(timeline.place(120, arrival: start) == 40)
        timeline.beginPublisher()
        #expect(timeline.place(9_000, arrival: start) == 41)
    }
}
