import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("Peer liveness")
struct PeerLivenessTests {
    @Test("times out a peer that does not answer its ping")
    func pings() {
        var now = MonotonicTime(nanoseconds: 0)
        var liveness = PeerLiveness(now: now)
        for _ in 0..<3 {
            now = now.advanced(seconds: 30)
            #expect(liveness.tick(at: now) == .ping)
            liveness.recordActivity(at: now.advanced(seconds: 1))
            now = now.advanced(seconds: 30)
            #expect(liveness.tick(at: now) == .wait)
        }
        now = now.advanced(seconds: 30)
        #expect(liveness.tick(at: now) == .ping)
        now = now.advanced(seconds: 30)
        #expect(liveness.tick(at: now) == .timedOut)
    }

    private let viewer = PeerLiveness.Rule.viewer(silence: .seconds(30), answer: .seconds(30))

    /// Returns the actions at ticks five seconds apart, after `start`.
    private func actions(
        _ liveness: inout PeerLiveness,
        from start: Int,
        to end: Int,
        sentBytes: (Int) -> Int = { _ in 0 },
        answers: Bool = false
    ) -> [PeerLiveness.Action] {
        stride(from: start + 5, through: end, by: 5).map { second in
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            let action = liveness.tick(at: now, sentBytes: sentBytes(second))
            if answers, action == .ping { liveness.recordActivity(at: now.advanced(seconds: 0.1)) }
            return action
        }
    }

    @Test("times out a viewer without progress after three unanswered pings, five seconds apart")
    func idleViewer() {
        var never = PeerLiveness(viewer, now: MonotonicTime(nanoseconds: 0))
        #expect(actions(&never, from: 0, to: 20) == [.ping, .ping, .ping, .timedOut])
        // A viewer that answered for minutes of a still program.
        var later = PeerLiveness(viewer, now: MonotonicTime(nanoseconds: 0))
        #expect(actions(&later, from: 0, to: 300, answers: true).allSatisfy { $0 == .ping })
        #expect(actions(&later, from: 300, to: 320) == [.ping, .ping, .ping, .timedOut])
        // A viewer that answers late, and one whose sent bytes increase again.
        for isLate in [true, false] {
            var late = PeerLiveness(viewer, now: MonotonicTime(nanoseconds: 0))
            #expect(actions(&late, from: 0, to: 15) == [.ping, .ping, .ping])
            if isLate { late.recordActivity(at: MonotonicTime(nanoseconds: 19_000_000_000)) }
            let next = actions(&late, from: 15, to: 35, sentBytes: { isLate || $0 > 20 ? 0 : 1 })
            #expect(next == (isLate ? [.ping, .ping, .ping, .timedOut] : [.wait, .ping, .ping, .ping]))
        }
    }

    @Test("pings a viewer with progress after half a minute of silence and times out half a minute later")
    func activeViewer() {
        var silent = PeerLiveness(viewer, now: MonotonicTime(nanoseconds: 0))
        let asked = actions(&silent, from: 0, to: 60, sentBytes: { $0 * 1000 })
        #expect(asked == Array(repeating: .wait, count: 5) + [.ping] + Array(repeating: .wait, count: 5) + [.timedOut])
        var answering = PeerLiveness(viewer, now: MonotonicTime(nanoseconds: 0))
        let good = actions(&answering, from: 0, to: 600, sentBytes: { $0 * 1000 }, answers: true)
        #expect(good.count { $0 == .ping } == 17 && !good.contains(.timedOut))
    }

    @Test("allows a publisher a minute of silence")
    func host() {
        var host = PeerLiveness(.publisher, now: MonotonicTime(nanoseconds: 0))
        #expect(host.tick(at: MonotonicTime(nanoseconds: 30_000_000_000)) == .ping)
        host.recordActivity(at: MonotonicTime(nanoseconds: 59_900_000_000))
        #expect(host.tick(at: MonotonicTime(nanoseconds: 60_000_000_000)) == .wait)
    }
}
