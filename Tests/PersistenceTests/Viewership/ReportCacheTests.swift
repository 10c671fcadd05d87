import Testing

@testable import Persistence

@Suite("Report cache")
struct ReportCacheTests {
    typealias Peak = (viewers: Int, at: Int64)
    typealias Figures = ReportCache<Int64, Peak?>

    private final class Computation {
        var now = 100.0
        /// The duration and the result of the next computation.
        var duration = 0.0
        var result: Peak? = (1, 1)
        private(set) var count = 0

        func run() -> Peak? {
            count += 1
            now += duration
            return result
        }

        func value(_ cache: inout Figures, _ epoch: Int64 = 1) -> Int? {
            cache.value(of: epoch, clock: { self.now }, compute: run)?.viewers
        }
    }

    @Test("a result is valid for twenty times its computation time, so that computing takes a twentieth of the time")
    func reuse() {
        let computation = Computation()
        var cache = Figures()
        computation.duration = 0.4
        #expect(computation.value(&cache) == 1 && computation.count == 1)
        computation.result = (2, 2)
        computation.now += 7.9
        #expect(computation.value(&cache) == 1 && computation.count == 1)
        // Another key has its own result.
        #expect(computation.value(&cache, 2) == 2 && computation.count == 2)
        computation.now += 0.2
        #expect(computation.value(&cache) == 2 && computation.count == 3)
        // A hundred clients ask five times a second for two minutes.
        let began = (now: computation.now, count: computation.count)
        while computation.now < began.now + 120 {
            for _ in 0..<100 { _ = computation.value(&cache) }
            computation.now += 0.2
        }
        #expect(Double(computation.count - began.count) * computation.duration < (computation.now - began.now) / 20)
        // The lifetime is limited, whatever the computation time.
        computation.duration = 30
        computation.now += 60
        _ = computation.value(&cache)
        computation.result = (3, 3)
        computation.now += 60
        #expect(computation.value(&cache) == 3)
    }

    @Test("a cheap result is computed each time; errors are not cached; nil is a result")
    func fresh() {
        struct Fault: Error {}
        let computation = Computation()
        var cache = Figures()
        for viewers in 1...5 {
            computation.result = (viewers, 0)
            #expect(computation.value(&cache) == viewers)
        }
        #expect(throws: Fault.self) {
            try cache.value(of: 1, clock: { computation.now }) { () throws(Fault) in throw Fault() }
        }
        computation.duration = 1
        computation.result = nil
        #expect(computation.value(&cache) == nil && computation.value(&cache) == nil && computation.count == 6)
    }

    @Test("holds at most a thousand keys")
    func bounded() {
        let computation = Computation()
        var cache = Figures()
        computation.duration = 0.001
        for epoch in 0..<1000 as Range<Int64> {
            computation.now -= 0.001
            _ = computation.value(&cache, epoch)
        }
        #expect(computation.value(&cache, 0) == 1 && computation.count == 1000)
        _ = computation.value(&cache, 5000)
        computation.now -= 0.001
        _ = computation.value(&cache, 5000)
        #expect(computation.count == 1002)
        computation.now += 1
        _ = computation.value(&cache, 5000)
        _ = computation.value(&cache, 5000)
        #expect(computation.count == 1003)
    }
}
