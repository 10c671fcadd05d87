import Testing

@testable import Gateway

@Suite("Which rooms have somebody to be shown a program") struct AwaitedProgramsTests {
    @Test("Each of them is told every time, and one that is none any more once")
    func look() {
        var awaited = AwaitedPrograms()
        func look(_ rooms: Set<String>) -> Set<String> {
            Set(awaited.look(at: rooms).map { "\($0.room) \($0.isAwaited)" })
        }
        #expect(look([]) == [])
        #expect(look(["a", "b"]) == ["a true", "b true"])
        #expect(look(["a"]) == ["a true", "b false"])
        #expect(look(["a"]) == ["a true"])
        #expect(look([]) == ["a false"])
        #expect(look([]) == [])
    }
}
