import TestSupport
import Testing

@testable import Viewership

@Suite("Distinct viewers", .enabled(if: TestRun.isFull))
struct UniqueCounterTests {
    @Test("G7 exact up to the limit, each value counted once")
    func exact() {
        var counter = UniqueCounter(limit: 1000)
        for value in 0..<1000 as Range<UInt64> {
            counter.insert(value &* 0x9E37_79B9_7F4A_7C15)
            counter.insert(value &* 0x9E37_79B9_7F4A_7C15)
        }
        #expect(counter.count == 1000 && !counter.isApproximate)
    }

    @Test("G7 the limit is a million: exact with a million values, estimated with one more")
    func million() {
        #expect(UniqueCounter.exactLimit == 1_000_000)
        var random = SeededGenerator(seed: 1)
        var counter = UniqueCounter()
        for _ in 0..<1_000_000 { counter.insert(random.next()) }
        #expect(counter.count == 1_000_000 && !counter.isApproximate)
        counter.insert(random.next())
        #expect(counter.isApproximate && abs(Double(counter.count) / 1_000_001 - 1) < 3 * 0.0081)
    }

    @Test(
        "G7 beyond the limit an estimate within three standard errors of 0.81 %",
        arguments: [5_000, 50_000, 400_000]
    )
    func approximate(count: Int) {
        var random = SeededGenerator(seed: UInt64(count))
        var counter = UniqueCounter(limit: 1000)
        for _ in 0..<count { counter.insert(random.next()) }
        #expect(counter.isApproximate)
        #expect(abs(Double(counter.count) / Double(count) - 1) < 3 * 0.0081)
    }
}

@Suite("Paged hash set")
struct PagedHashSetTests {
    @Test("G7 holds what a Set holds, with about ten bytes per value at any size and order")
    func exact() {
        var random = SeededGenerator(seed: 3)
        var pages = PagedHashSet()
        var set: Set<UInt64> = []
        for number in 1...40_000 {
            // One in four is a duplicate.
            let value = number % 4 == 0 ? set.first ?? 0 : random.next()
            pages.insert(value)
            set.insert(value)
            guard number >= 5_000, number % 1_000 == 0 else { continue }
            #expect(pages.count == set.count)
            #expect(Double(pages.bytes) / Double(pages.count) < 12.5)
        }
        #expect(Array(pages.values) == set.sorted())
    }

    @Test("values in order, in reverse, at the limits, and duplicates", arguments: [false, true])
    func ordered(isReversed: Bool) {
        var values = (0..<3_000 as Range<UInt64>).map { $0 } + [.max - 1, .max]
        if isReversed { values.reverse() }
        var pages = PagedHashSet()
        for value in values + values { pages.insert(value) }
        #expect(pages.count == values.count)
        #expect(Array(pages.values) == values.sorted())
    }

    @Test("a copy does not change")
    func copied() {
        var pages = PagedHashSet()
        for value in 0..<1_000 as Range<UInt64> { pages.insert(value &* 0x9E37_79B9_7F4A_7C15) }
        let copy = pages
        for value in 1_000..<2_000 as Range<UInt64> { pages.insert(value &* 0x9E37_79B9_7F4A_7C15) }
        #expect(copy.count == 1_000 && pages.count == 2_000)
    }
}
