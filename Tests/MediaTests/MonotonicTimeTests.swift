import Media
import Testing

@Suite("Moments of the monotonic clock")
struct MonotonicTimeTests {
    @Test("A moment in a time that no clock reaches is a century away, and one in no time at all is now")
    func advanced() {
        let now = MonotonicTime(nanoseconds: 1 << 40)
        let century = now.advanced(seconds: 3_155_760_000)
        for seconds in [1e10, 1e300, Double.infinity] {
            #expect(now.advanced(seconds: seconds) == century)
            #expect(now.advanced(seconds: -seconds) < now)
        }
        #expect(now.advanced(seconds: .nan) == now)
        #expect(now.advanced(seconds: 1.5).nanoseconds == now.nanoseconds + 1_500_000_000)
    }
}
