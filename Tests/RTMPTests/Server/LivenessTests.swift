import Media
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
}
