import Testing

@testable import Viewership

@Suite("The set of those who were there")
struct HashPagesTests {
    @Test("G7 what a Set holds, in about ten bytes each at any size, whatever the order they come in")
    func exact() {
        var random = SeededGenerator(seed: 3)
        var pages = HashPages()
        var set: Set<UInt64> = []
        for number in 1...40_000 {
            // One in four was there before.
            let value = number % 4 == 0 ? set.first ?? 0 : random.next()
            pages.insert(value)
            set.insert(value)
            guard number >= 5_000, number % 1_000 == 0 else { continue }
            #expect(pages.count == set.count)
            #expect(Double(pages.bytes) / Double(pages.count) < 12.5)
        }
        #expect(Array(pages.values) == set.sorted())
    }

    @Test("values in order, in reverse, the ends of what there is, and every value twice", arguments: [false, true])
    func ordered(isReversed: Bool) {
        var values = (0..<3_000 as Range<UInt64>).map { $0 } + [.max - 1, .max]
        if isReversed { values.reverse() }
        var pages = HashPages()
        for value in values + values { pages.insert(value) }
        #expect(pages.count == values.count)
        #expect(Array(pages.values) == values.sorted())
    }

    @Test("a copy stays as it was")
    func copied() {
        var pages = HashPages()
        for value in 0..<1_000 as Range<UInt64> { pages.insert(value &* 0x9E37_79B9_7F4A_7C15) }
        let copy = pages
        for value in 1_000..<2_000 as Range<UInt64> { pages.insert(value &* 0x9E37_79B9_7F4A_7C15) }
        #expect(copy.count == 1_000 && pages.count == 2_000)
    }
}
