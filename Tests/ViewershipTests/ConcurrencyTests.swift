import Foundation
import Media
import Stage
import Synchronization
import TestSupport
import Testing

@testable import Viewership

@Suite("Concurrent recording and reporting", .enabled(if: TestRun.isFull))
struct ConcurrencyTests {
    private static let writers = 6
    private static let viewers = 1500

    @Test("events from many threads are all counted, and every report in between is consistent")
    func record() async {
        let ledger = ViewershipLedger(keys: LedgerFixture.keys)
        let writing = Atomic<Int>(Self.writers)
        let reports = Atomic<Int>(0)
        let broken = Atomic<Int>(0)
        let group = DispatchGroup()
        // This room ends during the run.
        Self.play(room: "over", prefix: "o", to: ledger)
        for writer in 0..<Self.writers {
            Self.startThread(in: group) {
                Self.play(room: "room-\(writer % 3)", prefix: "p\(writer)", to: ledger)
                writing.subtract(1, ordering: .releasing)
            }
        }
        Self.startThread(in: group) {
            ledger.roomEnded("over")
            repeat {
                broken.add(Self.brokenIdentities(of: ledger), ordering: .relaxed)
                _ = ledger.metrics()
                ledger.advance(to: .now())
                reports.add(1, ordering: .relaxed)
            } while writing.load(ordering: .acquiring) > 0
        }
        await withCheckedContinuation { done in
            group.notify(queue: .global()) { done.resume() }
        }
        #expect(broken.load(ordering: .relaxed) == 0)
        #expect(reports.load(ordering: .relaxed) > 0)
        let totals = ledger.totals()
        #expect(totals.rooms.count == 3)
        let over = ledger.report(room: "over")
        #expect(over.joins == Self.viewers + Self.viewers / 10 && over.leaves == over.joins && over.concurrent == 0)
        #expect(totals.total.joins == Self.writers * (Self.viewers + Self.viewers / 10))
        #expect(totals.total.byProtocol[.hls] == Self.writers * Self.viewers / 3)
        #expect(totals.total.byProtocol[.rtmp] == Self.writers * 250)
        #expect(totals.total.byProtocol[.flv] == Self.writers * 250)
        for room in 0..<3 { ledger.roomEnded("room-\(room)") }
        #expect(ledger.totals().total.concurrent == 0)
        #expect((0..<3).allSatisfy { ledger.report(room: "room-\($0)").concurrent == 0 })
    }

    /// Starts a real thread, because event loops are threads of their own.
    private static func startThread(in group: DispatchGroup, _ body: @escaping @Sendable () -> Void) {
        group.enter()
        Thread.detachNewThread {
            body()
            group.leave()
        }
    }

    /// Plays a third by HLS, who stay; a third each by RTMP and FLV, half of whom leave; some participants, who leave.
    private static func play(room: String, prefix: String, to ledger: ViewershipLedger) {
        for viewer in 0..<viewers {
            let sid = ledger.makeSession(room: room)
            let playback: PlaybackProtocol = viewer % 3 == 0 ? .hls : viewer % 3 == 1 ? .rtmp : .flv
            let start = MonotonicTime.now()
            func send(_ kind: AudienceEvent.Kind, _ at: MonotonicTime) {
                ledger.record(AudienceEvent(sid: sid, room: room, playback: playback, kind: kind, at: at))
            }
            if playback == .hls {
                send(.playlistServed, start.advanced(seconds: -2))
                send(.playlistServed, start)
            } else {
                send(.opened, start.advanced(seconds: -5))
                send(.watched(since: start.advanced(seconds: -5)), start)
                send(.closed(.left), .now())
                if viewer % 2 == 0 { send(.opened, .now()) }
            }
            if viewer % 10 == 0 {
                ledger.participantWatching(room: room, identity: "\(prefix)-\(viewer)")
                ledger.participantLeft(room: room, identity: "\(prefix)-\(viewer)")
            }
        }
    }

    private static func brokenIdentities(of ledger: ViewershipLedger) -> Int {
        let totals = ledger.totals()
        let sum = totals.rooms.map(\.concurrent).reduce(0, +)
        let figures = totals.rooms + [totals.total, ledger.report(room: "room-0")]
        return (sum == totals.total.concurrent ? 0 : 1) + figures.map(\.brokenIdentities.count).reduce(0, +)
    }
}
