import FootlightModel
import FootlightTesting
import Media
import Stage
import Testing

@testable import MixerProcess

@Suite("Throttle of the mixer's reports")
final class ReportThrottleTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private var throttle = ReportThrottle(now: MonotonicTime(nanoseconds: 1_000_000_000))

    private func at(_ seconds: Double) -> MonotonicTime { start.advanced(seconds: seconds) }

    private func report(_ level: Double? = -30, subscribed: [WireEnum<TrackName>] = ["mic"]) -> MixerReportBody {
        MixerReportBody(participants: [MixerReportEntry(sid: "PA1", audioLevel: level, subscribed: subscribed)])
    }

    // Wrappers, because `#expect` cannot call mutating methods.
    private func tick(_ report: MixerReportBody, _ now: MonotonicTime) -> ReportThrottle.Action {
        throttle.tick(report, now: now)
    }

    private func connected() -> Bool { throttle.connected() }

    private func answered(_ status: Int) -> Bool { throttle.answered(status: status) }

    /// Connects at the start.
    private func connect() {
        #expect(tick(report(), start) == .connect)
        #expect(connected())
    }

    @Test("one report is under way at a time, followed by the latest")
    func oneAtATime() {
        connect()
        #expect(tick(report(-30), at(0.1)) == .send(report(-30)))
        #expect(tick(report(-29), at(0.2)) == .none)
        #expect(tick(report(-28), at(0.3)) == .none)
        #expect(answered(204))
        #expect(tick(report(-27), at(0.4)) == .send(report(-27)))
    }

    @Test("reports once per second in silence, and at once when a host speaks or a track changes")
    func silence() {
        connect()
        #expect(tick(report(-90), at(0)) == .send(report(-90)))
        #expect(answered(204))
        #expect(tick(report(-95), at(0.1)) == .none)
        #expect(tick(report(-95), at(0.9)) == .none)
        #expect(tick(report(-95), at(1)) == .send(report(-95)))
        #expect(answered(204))
        #expect(tick(report(-40), at(1.1)) == .send(report(-40)))
        #expect(answered(204))
        // The first silence after speech is a change.
        #expect(tick(report(-90), at(1.2)) == .send(report(-90)))
        #expect(answered(204))
        #expect(tick(report(-90, subscribed: []), at(1.3)) == .send(report(-90, subscribed: [])))
        #expect(answered(204))
        #expect(tick(report(nil, subscribed: []), at(1.4)) == .send(report(nil, subscribed: [])))
    }

    @Test("reconnects with backoff, and reports at once")
    func backOff() {
        connect()
        var waits: [Double] = []
        var now = 0.0
        for _ in 0..<8 {
            throttle.closed(now: at(now), chance: 0.5)
            // Called twice, as by the error and the close.
            throttle.closed(now: at(now), chance: 0.5)
            let lost = now
            while tick(report(-90), at(now)) != .connect { now += 0.05 }
            waits.append(now - lost)
        }
        #expect(abs(waits[0] - 0.1) < 0.06)
        #expect(zip(waits, waits.dropFirst()).allSatisfy { $0 <= $1 + 0.06 })
        #expect(abs((waits.last ?? 0) - 5) < 0.1)
        #expect(connected())
        #expect(tick(report(-90), at(now)) == .send(report(-90)))
    }

    @Test("closes a connection without a response, or with an error status")
    func closesUnusableConnections() {
        connect()
        #expect(tick(report(), at(0)) == .send(report()))
        #expect(tick(report(), at(2.9)) == .none)
        #expect(tick(report(), at(3.1)) == .close)
        throttle.closed(now: at(3.1), chance: 0)
        #expect(tick(report(), at(4)) == .connect)
        #expect(connected())
        #expect(tick(report(), at(4)) == .send(report()))
        #expect(!answered(404))
    }

    @Test("does not use a connection that opens after the timeout")
    func tooLate() {
        #expect(tick(report(), start) == .connect)
        #expect(tick(report(), at(3.1)) == .close)
        throttle.closed(now: at(3.1), chance: 0)
        #expect(!connected())
    }
}

@Suite("Log throttle of skipped program time") struct JumpThrottleTests {
    @Test("reports the first jump at once, and later ones summed up every ten seconds")
    func jumpReports() {
        var throttle = JumpThrottle()
        func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: 0).advanced(seconds: seconds) }
        #expect(throttle.update(lost: 0, now: at(4)) == nil)
        #expect(throttle.update(lost: 45, now: at(5)) == 45)
        #expect(throttle.update(lost: 45, now: at(6)) == nil)
        #expect(throttle.update(lost: 80, now: at(7)) == nil)
        #expect(throttle.update(lost: 119, now: at(14.9)) == nil)
        #expect(throttle.update(lost: 179, now: at(15)) == 134)
        #expect(throttle.update(lost: 179, now: at(30)) == nil)
        #expect(throttle.update(lost: 212, now: at(90)) == 33)
    }
}
