import Foundation
import Media
import Stage
import Viewership

/// A million viewers by requests: bytes that each takes, and time that each of their requests takes.
struct AudienceLoad {
    let sessions: Int

    func run() {
        let clock = HandMovedClock()
        let start = clock.now
        let ledger = ViewershipLedger(
            keys: SessionKeys(current: .random(version: 1)),
            clock: clock,
            configuration: .init(sessionLimit: sessions * 2),
            startDate: Date()
        )
        let sids = (0..<sessions).map { _ in ledger.makeSession(room: "show") }
        let before = Self.residentBytes
        touch(ledger, sids, at: start)
        let first = Date()
        touch(ledger, sids, at: start.advanced(seconds: 2))
        let joining = Date().timeIntervalSince(first)
        let after = Self.residentBytes
        var touches: [Double] = []
        for round in 2..<6 {
            let began = Date()
            touch(ledger, sids, at: start.advanced(seconds: Double(round) * 2))
            touches.append(Date().timeIntervalSince(began) / Double(sessions) * 1e6)
        }
        clock.move(to: start.advanced(seconds: 11))
        let report = ledger.report(room: "show")
        let timers = Date()
        ledger.advance(to: clock.now)
        let timing = Date().timeIntervalSince(timers)
        print("live: \(report.concurrent) of \(sessions)")
        print("distinct: \(report.uniques.devices), \(report.uniques.isApproximate ? "estimated" : "exact")")
        print("bytes a session: \(verdict(Double(after - before) / Double(sessions), atMost: 100, digits: 1))")
        print("joining, us: \((joining / Double(sessions) * 1e6).text(3))")
        print("a touch, us: \(verdict(touches.sorted()[touches.count / 2], atMost: 0.5, digits: 3))")
        print("one turn of all timers, ms: \((timing * 1000).text(1))")
        withExtendedLifetime(sids) {}
    }

    private func touch(_ ledger: ViewershipLedger, _ sids: [String], at moment: MonotonicTime) {
        for sid in sids {
            ledger.record(AudienceEvent(sid: sid, room: "show", playback: .hls, kind: .playlistServed, at: moment))
        }
    }

    /// What of the process is in memory.
    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * 4096
    }
}
