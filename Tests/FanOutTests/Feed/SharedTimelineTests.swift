@testable import FanOut
import Media
import Testing

@Suite("The clock of a program and its renditions")
struct SharedTimelineTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test("Pictures of one moment have one time, whichever feed was first and however late the other comes up")
    func oneMoment() {
        let timeline = SharedTimeline()
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: start) == 0)
        #expect(timeline.place(Packets.key(70_000), epoch: 1, arrival: start) == 0)
        #expect(timeline.place(Packets.picture(70_033), epoch: 1, arrival: start.advanced(milliseconds: 33)) == 33)
        // The other connection stands two seconds later; its configuration says nothing of its time.
        let late = start.advanced(milliseconds: 2_300)
        #expect(timeline.place(Packets.video(), epoch: 1, arrival: late) == 33)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late) == 2_000)
        #expect(timeline.place(Packets.key(72_000), epoch: 1, arrival: late.advanced(milliseconds: 50)) == 2_000)
    }

    @Test("The next mixer goes on behind the last one, after the time that has passed, for all of them alike")
    func takeover() {
        let timeline = SharedTimeline()
        _ = timeline.place(Packets.key(0), epoch: 1, arrival: start)
        _ = timeline.place(Packets.picture(4_000), epoch: 1, arrival: start.advanced(milliseconds: 4_000))
        let next = start.advanced(milliseconds: 5_500)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next) == 5_500)
        // What is still under way of the old one keeps its own time.
        #expect(timeline.place(Packets.picture(4_033), epoch: 1, arrival: next) == 4_033)
        #expect(timeline.place(Packets.key(0), epoch: 2, arrival: next.advanced(milliseconds: 300)) == 5_500)
    }
}
