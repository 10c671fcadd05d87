import TestSupport
import Stage
import Testing

@testable import Viewership

@Suite("Session table")
struct SessionTableTests {
    private func session(_ code: UInt64) -> ViewerSession {
        ViewerSession(nonce: 0, code: code, cell: 0, since: 0, lastHit: 0)
    }

    @Test("a session occupies one cache line")
    func size() {
        #expect(MemoryLayout<ViewerSession>.size == 64)
        #expect(MemoryLayout<ViewerSession>.stride == 64)
    }

    @Test("packed fields do not overlap")
    func packed() {
        var session = session(.max)
        #expect(session.cell == 0 && session.viewer == -1 && session.next == -1 && session.phase == .new)
        for (cell, viewer, next) in [(0, 0, 0), (1 << 20 - 1, -1, 1 << 22 - 2), (7, 1 << 22 - 2, -1)]
            as [(Int32, Int32, Int32)]
        {
            session.viewer = viewer
            session.next = next
            session.cell = cell
            #expect(session.cell == cell && session.viewer == viewer && session.next == next)
        }
        for reason in CloseReasonCounters.allReasons {
            session.endReason = reason
            for phase in [ViewerSession.Phase.vacant, .new, .live, .ended] {
                session.phase = phase
                #expect(session.endReason == reason && session.phase == phase)
            }
            #expect(CloseReasonCounters.allReasons[CloseReasonCounters.index(of: reason)] == reason)
        }
        session.addBytes(3 << 32)
        session.addBytes(5)
        session.addBytes(-7)
        #expect(session.bytes == 3 << 32 + 5)
        session.addBytes(1 << 40)
        #expect(session.bytes == 1 << 40 - 1 && session.flags == [] && session.connections == 0)
    }

    @Test("times are exact to the millisecond, before zero and long after it, and `never` stays `never`")
    func moments() {
        var session = session(1)
        #expect(session.mark == ViewerSession.never && session.start == session.since)
        // A year of milliseconds is 3.2e10.
        for moment in [0, 1, -1, 4_294_967_295, 4_294_967_296, -4_294_967_297, 500_000_000_000, -500_000_000_000] {
            session.since = Int64(moment)
            session.lastHit = Int64(moment) + 1
            session.mark = Int64(moment) + 2
            session.start = Int64(moment) + 3
            #expect(session.since == Int64(moment) && session.lastHit == Int64(moment) + 1)
            #expect(session.mark == Int64(moment) + 2 && session.start == Int64(moment) + 3)
        }
        // `never` is earlier than every other time.
        session.mark = ViewerSession.never
        #expect(max(session.mark, -500_000_000_000) == -500_000_000_000)
        #expect(session.mark == ViewerSession.never && session.start != ViewerSession.never)
        session.since = .min
        session.lastHit = .max
        #expect(session.since == ViewerSession.never && session.lastHit > 500_000_000_000)
    }

    @Test("sessions keep their index over many pages; at most one page is unused")
    func pages() {
        var table = SessionTable()
        for code in 0..<5000 {
            let place = table.append(session(UInt64(code)))
            #expect(place == code)
        }
        table[4321].watched = 7
        let wrong = table.indices.filter { table[$0].code != UInt64($0) }
        #expect(wrong == [])
        #expect(table[4321].watched == 7 && table[4320].watched == 0)
        #expect(table.bytes >= 5000 * 64 && table.bytes <= (5000 + 512) * 64)
    }

    @Test("the index finds exactly the present sessions, after any insertions and removals")
    func index() {
        var random = SeededGenerator(seed: 3)
        var table = SessionTable()
        var index = SessionIndex()
        var places: [UInt64: Int] = [:]
        var misses = 0
        for round in 0..<20_000 {
            if round % 3 == 2, let code = places.keys.randomElement(using: &random) {
                index.remove(code, in: table)
                places[code] = nil
                if index.find(code, in: table) != nil { misses += 1 }
            } else {
                // Some share a home slot, so that they collide.
                let code = round % 50 == 0 ? random.next() & ~0xFFFF : random.next()
                let place = table.append(session(code))
                index.insert(place, in: table)
                places[code] = place
            }
        }
        for (code, place) in places where index.find(code, in: table) != place { misses += 1 }
        for _ in 0..<1000 where index.find(random.next(), in: table) != nil { misses += 1 }
        #expect(misses == 0)
        #expect(index.count == places.count)
        #expect(index.bytes <= 4 * 2 * 8 / 7 * places.count + 64)
    }
}
