import Stage
import Testing

@Suite("Stable places")
struct StablePlacesTests {
    @Test("D22 those who stay keep their index, and the free ones are filled in order")
    func vectors() {
        #expect(StablePlaces.arrange(previous: [0, 1, 2], next: [1, 2, 3]) == [3, 1, 2])
        #expect(StablePlaces.arrange(previous: [0, 1, 2], next: [3, 4, 0, 1, 2]) == [0, 1, 2, 3, 4])
        #expect(StablePlaces.arrange(previous: [0, 1, 2, 3, 4], next: [1, 2, 3]) == [3, 1, 2])
    }

    @Test("D22 a new order alone moves nobody")
    func reorder() {
        #expect(StablePlaces.arrange(previous: [0, 1, 2], next: [2, 0, 1]) == [0, 1, 2])
    }

    @Test("D22 the result always holds exactly the new members, and nobody who could stay has moved")
    func anyLists() {
        var generator = SeededGenerator(seed: 22)
        for _ in 0..<2000 {
            let previous = Array((0..<14).shuffled(using: &generator).prefix(.random(in: 0...12, using: &generator)))
            let next = Array((0..<14).shuffled(using: &generator).prefix(.random(in: 0...12, using: &generator)))
            let result = StablePlaces.arrange(previous: previous, next: next)
            #expect(result.sorted() == next.sorted())
            for (index, member) in previous.enumerated() where index < next.count && next.contains(member) {
                #expect(result[index] == member)
            }
        }
    }
}
