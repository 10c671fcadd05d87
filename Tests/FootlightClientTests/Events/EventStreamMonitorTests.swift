import FootlightModel
import FootlightTesting
import Media
import Stage
import Testing

@testable import FootlightClient

@Suite("Timeouts, backoff, and filtering of events")
struct EventStreamMonitorTests {
    @Test("A stream has 15 s to respond, 5 s to begin, and then a timeout of 15 s")
    func monitor() {
        var monitor = EventStreamMonitor(ClientLimits(), at: .seconds(100))
        #expect(monitor.deadline == .seconds(115))
        monitor.received(at: .seconds(101))
        #expect(monitor.deadline == .seconds(115), "bytes are no answer")
        monitor.opened(at: .seconds(114))
        #expect(monitor.deadline == .seconds(119))
        monitor.received(at: .seconds(118))
        #expect(monitor.deadline == .seconds(119), "a comment is no beginning")
        monitor.began(at: .seconds(118))
        #expect(monitor.deadline == .seconds(133))
        monitor.received(at: .seconds(130))
        #expect(monitor.deadline == .seconds(145))
    }

    @Test("Delays grow from 80 ms by half each time, up to 5 s, with a jitter of half")
    func backoff() {
        var backoff = Backoff(ClientLimits())
        let delays = (0..<14).map { _ in backoff.next(chance: 0.5) }
        for (delay, expected) in zip(delays, [0.08, 0.12, 0.18]) { #expect(abs(delay - expected) < 1e-9) }
        #expect(delays.last == 5)
        backoff.reset()
        #expect(abs(backoff.next(chance: 0) - 0.04) < 1e-9)
        #expect(abs(backoff.next(chance: 1) - 0.18) < 1e-9)
    }

    @Test("Replayed events count once, a snapshot always counts, and the final event has no revision of its own")
    func revisions() {
        var filter = RevisionFilter(known: 5)
        let accepts = { (type: WireEnum<StageEvent.Name>, rev: UInt64) in
            filter.accepts(EventResource(type: type, roomSID: "RM1", rev: rev, ts: Timestamp(0)))
        }
        #expect(!accepts("track.published", 5))
        #expect(accepts("track.published", 6))
        #expect(!accepts("track.published", 6))
        #expect(!accepts("heartbeat", 6))
        #expect(accepts("session.disconnected", 6))
        #expect(accepts("room.snapshot", 2))
        #expect(accepts("layout.changed", 3))
    }
}
