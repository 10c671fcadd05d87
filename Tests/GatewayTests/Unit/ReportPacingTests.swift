@testable import Gateway
import GatewayModel
import Media
import Testing

@Suite("The pace of the mixer's reports")
final class ReportPacingTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)
    private var pacing = ReportPacing(now: MonotonicTime(nanoseconds: 1_000_000_000))

    private func at(_ seconds: Double) -> MonotonicTime { start.advanced(seconds: seconds) }

    private func report(_ level: Double? = -30, subscribed: [String] = ["mic"]) -> MixerReportBody {
        MixerReportBody(participants: [MixerReportEntry(sid: "PA1", audioLevel: level, subscribed: subscribed)])
    }

    // Through these, for what a test expects is looked at and not changed.
    private func tick(_ report: MixerReportBody, _ now: MonotonicTime) -> ReportPacing.Action {
        pacing.tick(report, now: now)
    }

    private func connected() -> Bool { pacing.connected() }

    private func answered(_ status: Int) -> Bool { pacing.answered(status: status) }

    /// Brings the connection up at the beginning.
    private func connect() {
        #expect(tick(report(), start) == .connect)
        #expect(connected())
    }

    @Test("One report is on its way at a time, and the next one is the newest")
    func oneAtATime() {
        connect()
        #expect(tick(report(-30), at(0.1)) == .send(report(-30)))
        #expect(tick(report(-29), at(0.2)) == .none)
        #expect(tick(report(-28), at(0.3)) == .none)
        #expect(answered(204))
        #expect(tick(report(-27), at(0.4)) == .send(report(-27)))
    }

    @Test("In silence one a second, and at once when somebody speaks or a track comes or goes")
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
        // The first silence after speech is news too.
        #expect(tick(report(-90), at(1.2)) == .send(report(-90)))
        #expect(answered(204))
        #expect(tick(report(-90, subscribed: []), at(1.3)) == .send(report(-90, subscribed: [])))
        #expect(answered(204))
        #expect(tick(report(nil, subscribed: []), at(1.4)) == .send(report(nil, subscribed: [])))
    }

    @Test("A lost connection is made again after a growing wait, the first report of it comes at once")
    func backOff() {
        connect()
        var waits: [Double] = []
        var now = 0.0
        for _ in 0..<8 {
            pacing.closed(now: at(now), jitter: 0.5)
            // Told twice, as by the error and by the closing.
            pacing.closed(now: at(now), jitter: 0.5)
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

    @Test("A connection that does not answer, or answers with a refusal, is given up")
    func useless() {
        connect()
        #expect(tick(report(), at(0)) == .send(report()))
        #expect(tick(report(), at(2.9)) == .none)
        #expect(tick(report(), at(3.1)) == .close)
        pacing.closed(now: at(3.1), jitter: 0)
        #expect(tick(report(), at(4)) == .connect)
        #expect(connected())
        #expect(tick(report(), at(4)) == .send(report()))
        #expect(!answered(404))
    }

    @Test("A connection that comes too late is not used")
    func tooLate() {
        #expect(tick(report(), start) == .connect)
        #expect(tick(report(), at(3.1)) == .close)
        pacing.closed(now: at(3.1), jitter: 0)
        #expect(!connected())
    }
}
