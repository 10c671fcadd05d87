@testable import Ingest
import Media
import Testing

@Suite("How much a host sends")
final class BitrateWatchTests {
    private var watch = BitrateWatch(limit: 1_000)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000)

    /// Sends at a rate of so many kb/s, and tells what was said other than that all is fine.
    private func send(kilobits: Int, seconds: Int) -> [BitrateWatch.Verdict] {
        (0..<seconds * 10).compactMap { _ in
            let verdict = watch.note(bytes: kilobits * 1_000 / 8 / 10, now: now)
            now = now.advanced(milliseconds: 100)
            return verdict == .fine ? nil : verdict
        }
    }

    @Test("Up to one and a half times the limit nothing is said", arguments: [1, 500, 1_000, 1_450])
    func fine(kilobits: Int) {
        #expect(send(kilobits: kilobits, seconds: 60).isEmpty)
    }

    @Test("Above it a warning comes once in ten seconds, with the rate")
    func high() {
        let said = send(kilobits: 1_700, seconds: 41)
        #expect(said.count == 4)
        for verdict in said {
            guard case .high(let kilobits) = verdict else {
                Issue.record("not a warning: \(verdict)")
                continue
            }
            #expect((1_690...1_730).contains(kilobits))
        }
    }

    @Test("Above twice the limit it is too much")
    func tooHigh() {
        #expect(send(kilobits: 2_100, seconds: 11).contains { if case .tooHigh = $0 { true } else { false } })
    }

    @Test("A short peak is forgiven")
    func peak() {
        #expect(send(kilobits: 6_000, seconds: 1).isEmpty)
        #expect(send(kilobits: 800, seconds: 30).isEmpty)
    }

    @Test("A flood is stopped before the ten seconds are over")
    func flood() throws {
        let start = now
        while watch.note(bytes: 125_000, now: now) == .fine { now = now.advanced(milliseconds: 10) }
        #expect(now.seconds(since: start) < 0.5)
    }
}
