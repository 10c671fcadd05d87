import FootlightTesting
import HTTPTypes
import Media
import Synchronization
import Testing

@testable import Pages

@Suite("What the watch page asks about its room")
struct WatchStatusTests {
    private final class Count: Sendable {
        let asked = Atomic<Int>(0)
    }

    @Test("A crowd of pages has the audience counted once a second, each room by itself")
    func cache() async throws {
        let clock = ManualClock()
        let count = Count()
        let stand = PageStand(
            clock: clock,
            audience: { room in
                let number = count.asked.add(1, ordering: .relaxed).newValue
                return room == "none" ? nil : PageAudience(isOnAir: true, viewers: number)
            }
        )
        for _ in 0..<50 {
            let answer = try await stand.ask(.get, "/watch/show/status")
            #expect(answer.text.contains(#""viewers":1"#), "\(answer.text)")
        }
        #expect(count.asked.load(ordering: .relaxed) == 1)
        let other = try await stand.ask(.get, "/watch/other/status")
        #expect(other.text.contains(#""viewers":2"#), "\(other.text)")
        clock.advance(by: .milliseconds(1001))
        let later = try await stand.ask(.get, "/watch/show/status")
        #expect(later.text.contains(#""viewers":3"#), "\(later.text)")
        #expect(try await stand.ask(.get, "/watch/none/status").status == 404)
    }

    @Test("It remembers no more rooms than it was given room for, and makes room for new ones")
    func capacity() {
        var cache = AudienceCache()
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        let some = PageAudience(isOnAir: true, viewers: 1)
        for number in 0...AudienceCache.capacity { cache.keep(some, of: "\(number)", now: start) }
        #expect(cache.audience(of: "0", now: start) != nil)
        #expect(cache.audience(of: "\(AudienceCache.capacity)", now: start) == nil)
        let later = start.advanced(seconds: 2)
        cache.keep(some, of: "new", now: later)
        #expect(cache.audience(of: "new", now: later) != nil && cache.audience(of: "0", now: later) == nil)
    }
}
