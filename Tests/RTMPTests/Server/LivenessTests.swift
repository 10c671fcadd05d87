import Media
import NIOCore
import Testing

@testable import RTMP

@Suite("Silent peers and dead ones")
struct LivenessTests {
    @Test("a peer that answers its ping lives on; one that does not is gone")
    func pings() {
        var now = MonotonicTime(nanoseconds: 0)
        var liveness = Liveness(now: now)
        for _ in 0..<3 {
            now = now.advanced(seconds: 30)
            #expect(liveness.tick(at: now) == .ping)
            liveness.heard(at: now.advanced(seconds: 1))
            now = now.advanced(seconds: 30)
            #expect(liveness.tick(at: now) == .wait)
        }
        now = now.advanced(seconds: 30)
        #expect(liveness.tick(at: now) == .ping)
        now = now.advanced(seconds: 30)
        #expect(liveness.tick(at: now) == .timedOut)
    }

    private let watchful = Liveness.Rule.watchful(silence: .seconds(30), answer: .seconds(30))

    /// What is done at ticks five seconds apart, from the first behind `start` on.
    private func actions(
        _ liveness: inout Liveness,
        from start: Int,
        to end: Int,
        taken: (Int) -> Int = { _ in 0 },
        answers: Bool = false
    ) -> [Liveness.Action] {
        stride(from: start + 5, through: end, by: 5).map { second in
            let now = MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000)
            let action = liveness.tick(at: now, taken: taken(second))
            if answers, action == .ping { liveness.heard(at: now.advanced(seconds: 0.1)) }
            return action
        }
    }

    @Test("a viewer that takes nothing and answers nothing is given three pings, five seconds each")
    func still() {
        var never = Liveness(watchful, now: MonotonicTime(nanoseconds: 0))
        #expect(actions(&never, from: 0, to: 20) == [.ping, .ping, .ping, .timedOut])
        // One that answered until then, of a program that stands still for minutes.
        var later = Liveness(watchful, now: MonotonicTime(nanoseconds: 0))
        #expect(actions(&later, from: 0, to: 300, answers: true).allSatisfy { $0 == .ping })
        #expect(actions(&later, from: 300, to: 320) == [.ping, .ping, .ping, .timedOut])
        // One that answers late, and one that takes media again, are there.
        for isLate in [true, false] {
            var late = Liveness(watchful, now: MonotonicTime(nanoseconds: 0))
            #expect(actions(&late, from: 0, to: 15) == [.ping, .ping, .ping])
            if isLate { late.heard(at: MonotonicTime(nanoseconds: 19_000_000_000)) }
            let next = actions(&late, from: 15, to: 35, taken: { isLate || $0 > 20 ? 0 : 1 })
            #expect(next == (isLate ? [.ping, .ping, .ping, .timedOut] : [.wait, .ping, .ping, .ping]))
        }
    }

    @Test("a viewer that takes what it is given is asked after half a minute of silence, and given as much to answer")
    func taking() {
        var silent = Liveness(watchful, now: MonotonicTime(nanoseconds: 0))
        let asked = actions(&silent, from: 0, to: 60, taken: { $0 * 1000 })
        #expect(asked == Array(repeating: .wait, count: 5) + [.ping] + Array(repeating: .wait, count: 5) + [.timedOut])
        var answering = Liveness(watchful, now: MonotonicTime(nanoseconds: 0))
        let good = actions(&answering, from: 0, to: 600, taken: { $0 * 1000 }, answers: true)
        #expect(good.count { $0 == .ping } == 17 && !good.contains(.timedOut))
    }

    @Test("a host is given a minute of silence, however it takes what it is sent")
    func host() {
        var host = Liveness(.patient, now: MonotonicTime(nanoseconds: 0))
        #expect(host.tick(at: MonotonicTime(nanoseconds: 30_000_000_000)) == .ping)
        host.heard(at: MonotonicTime(nanoseconds: 59_900_000_000))
        #expect(host.tick(at: MonotonicTime(nanoseconds: 60_000_000_000)) == .wait)
    }
}
