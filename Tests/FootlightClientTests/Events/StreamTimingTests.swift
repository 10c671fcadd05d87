import GatewayModel
import Testing

@testable import FootlightClient

@Suite("How long the client waits, and which events are news")
struct StreamTimingTests {
    @Test("A stream has 15 s to answer, 5 s to begin, and then may be silent for 15 s")
    func watch() {
        var watch = StreamWatch(ClientLimits(), at: .seconds(100))
        #expect(watch.deadline == .seconds(115))
        watch.heard(at: .seconds(101))
        #expect(watch.deadline == .seconds(115), "bytes are no answer")
        watch.opened(at: .seconds(114))
        #expect(watch.deadline == .seconds(119))
        watch.heard(at: .seconds(118))
        #expect(watch.deadline == .seconds(119), "a comment is no beginning")
        watch.began(at: .seconds(118))
        #expect(watch.deadline == .seconds(133))
        watch.heard(at: .seconds(130))
        #expect(watch.deadline == .seconds(145))
    }

    @Test("Delays grow from 80 ms by half each time, up to 5 s, and chance spreads them by half")
    func backoff() {
        var backoff = Backoff(ClientLimits())
        let delays = (0..<14).map { _ in backoff.next(chance: 0.5) }
        #expect(delays.prefix(3) == [.milliseconds(80), .milliseconds(120), .milliseconds(180)])
        #expect(delays.last == .seconds(5))
        backoff.reset()
        #expect(backoff.next(chance: 0) == .milliseconds(40))
        #expect(backoff.next(chance: 1) == .milliseconds(180))
    }

    @Test("What is replayed counts once, a snapshot always counts, and the last word has no revision of its own")
    func revisions() {
        var filter = RevisionFilter(known: 5)
        let takes = { (type: String, rev: UInt64) in
            filter.takes(EventResource(type: type, roomSID: "RM1", rev: rev, ts: Timestamp(0)))
        }
        #expect(!takes("track.published", 5))
        #expect(takes("track.published", 6))
        #expect(!takes("track.published", 6))
        #expect(!takes("heartbeat", 6))
        #expect(takes("session.disconnected", 6))
        #expect(takes("room.snapshot", 2))
        #expect(takes("layout.changed", 3))
    }
}
