import FootlightTesting
import HTTPTypes
import Media
import Synchronization
import Testing

@testable import Pages

@Suite("Watch page status")
struct WatchStatusTests {
    private final class Count: Sendable {
        let asked = Atomic<Int>(0)
    }

    @Test("counts the audience of each room once a second, however many pages poll")
    func cache() async throws {
        let clock = ManualClock()
        let count = Count()
        let fixture = PageFixture(
            clock: clock,
            audience: { room in
                let number = count.asked.add(1, ordering: .relaxed).newValue
                return room == "none" ? nil : PageAudience(isOnAir: true, viewers: number)
            }
        )
        for _ in 0..<50 {
            let answer = try await fixture.ask(.get, "/watch/show/status")
            #expect(answer.text.contains(#""viewers":1"#), "\(answer.text)")
        }
        #expect(count.asked.load(ordering: .relaxed) == 1)
        let other = try await fixture.ask(.get, "/watch/other/status")
        #expect(other.text.contains(#""viewers":2"#), "\(other.text)")
        clock.advance(by: .milliseconds(1001))
        let later = try await fixture.ask(.get, "/watch/show/status")
        #expect(later.text.contains(#""viewers":3"#), "\(later.text)")
        #expect(try await fixture.ask(.get, "/watch/none/status").status == 404)
    }

    @Test("caches a limited number of rooms, and replaces expired ones")
    func capacity() {
        var cache = AudienceCache()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let some = PageAudience(isOnAir: true, viewers: 1)
        for number in 0...AudienceCache.capacity { cache.insert(some, of: "\(number)", now: start) }
        #expect(cache.audience(of: "0", now: start) != nil)
        #expect(cache.audience(of: "\(AudienceCache.capacity)", now: start) == nil)
        let later = start.advanced(seconds: 2)
        cache.insert(some, of: "new", now: later)
        #expect(cache.audience(of: "new", now: later) != nil && cache.audience(of: "0", now: later) == nil)
    }
}
