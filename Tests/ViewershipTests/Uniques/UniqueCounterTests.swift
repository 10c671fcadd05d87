import Testing

@testable import Viewership

@Suite("Distinct viewers")
struct UniqueCounterTests {
    @Test("G7 exact up to the limit, each counted once")
    func exact() {
        var counter = UniqueCounter(limit: 1000)
        for value in 0..<1000 as Range<UInt64> {
            counter.insert(value &* 0x9E37_79B9_7F4A_7C15)
            counter.insert(value &* 0x9E37_79B9_7F4A_7C15)
        }
        #expect(counter.count == 1000 && !counter.isApproximate)
    }

    @Test("G7 the limit is a million: exact with so many, an estimate with one more")
    func million() {
        #expect(UniqueCounter.exactLimit == 1_000_000)
        var random = SeededGenerator(seed: 1)
        var counter = UniqueCounter()
        for _ in 0..<1_000_000 { counter.insert(random.next()) }
        #expect(counter.count == 1_000_000 && !counter.isApproximate)
        counter.insert(random.next())
        #expect(counter.isApproximate && abs(Double(counter.count) / 1_000_001 - 1) < 3 * 0.0081)
    }

    @Test("G7 above it an estimate within three times its deviation of 0.81 %", arguments: [5_000, 50_000, 400_000])
    func approximate(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        var counter = UniqueCounter(limit: 1000)
        for _ in 0..<count { counter.insert(random.next()) }
        #expect(counter.isApproximate)
        #expect(abs(Double(counter.count) / Double(count) - 1) < 3 * 0.0081)
    }
}
