import Testing

@testable import Gateway

@Suite("Which rooms have somebody to be shown a program") struct AwaitedProgramsTests {
    @Test("Each wish is told every time, and one that is none any more once")
    func look() {
        var awaited = AwaitedPrograms()
        func look(_ wishes: Set<AwaitedPrograms.Wish>) -> Set<String> {
            Set(awaited.look(at: wishes).map { "\($0.wish.room) \($0.wish.demand) \($0.isOn)" })
        }
        let a = AwaitedPrograms.Wish(room: "a", demand: .viewers)
        let early = AwaitedPrograms.Wish(room: "a", demand: .opening)
        let b = AwaitedPrograms.Wish(room: "b", demand: .viewers)
        #expect(look([]) == [])
        #expect(look([a, early, b]) == ["a viewers true", "a opening true", "b viewers true"])
        #expect(look([a]) == ["a viewers true", "a opening false", "b viewers false"])
        #expect(look([a]) == ["a viewers true"])
        #expect(look([]) == ["a viewers false"])
        #expect(look([]) == [])
    }
}
