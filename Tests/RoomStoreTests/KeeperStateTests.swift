import Testing

@testable import RoomStore

@Suite("What is written, and who waits for it")
struct KeeperStateTests {
    private typealias State = KeeperState<String>

    private func makeState() -> State {
        State(gathering: 0.1, retry: RetryDelay(first: 1, longest: 8))
    }

    /// Whether a write comes after about some seconds, chance included.
    private func isWrite(_ next: State.Next, after seconds: Double) -> Bool {
        guard case .write(let delay) = next else { return false }
        return (seconds * 0.75...seconds * 1.25).contains(delay)
    }

    private func begin(_ state: inout State) throws -> State.Batch {
        let batch = state.begin()
        return try #require(batch)
    }

    @Test("Changes are gathered, and written together once")
    func gathering() throws {
        var state = makeState()
        #expect(state.changed(["a"]) == .write(after: 0.1))
        #expect(state.changed(["b"]) == .nothing)
        #expect(state.changed(["a"]) == .nothing)
        let batch = try begin(&state)
        #expect(batch.rooms == ["a", "b"])
        #expect(state.waitingRooms == 2)
        let (done, next) = state.succeeded(batch)
        #expect(done.isEmpty)
        #expect(next == .nothing)
        #expect(state.begin() == nil)
        #expect(state.waitingRooms == 0)
    }

    @Test("Whoever waits hurries the write, and is answered when all changes before are on disk")
    func waiting() throws {
        var state = makeState()
        #expect(state.wait("nobody") == nil)
        _ = state.changed(["a"])
        #expect(state.wait("one")?.next == .write(after: 0))
        #expect(state.wait("two")?.next == .nothing)
        let batch = try begin(&state)
        // What comes while it is written is not in it.
        #expect(state.changed(["b"]) == .nothing)
        #expect(state.wait("three")?.next == .nothing)
        let first = state.succeeded(batch)
        #expect(first.done == ["one", "two"])
        #expect(first.next == .write(after: 0))
        let second = try begin(&state)
        #expect(second.rooms == ["b"])
        #expect(state.succeeded(second).done == ["three"])
    }

    @Test("A write that was overtaken finds nothing")
    func overtaken() throws {
        var state = makeState()
        _ = state.changed(["a"])
        _ = state.wait("one")
        let batch = try begin(&state)
        #expect(state.begin() == nil)
        _ = state.succeeded(batch)
        #expect(state.begin() == nil)
    }

    @Test("What failed is written later, later each time, together with what came since; nobody can hurry it")
    func failing() throws {
        var state = makeState()
        _ = state.changed(["a"])
        for failures in 1...5 {
            let batch = try begin(&state)
            #expect(state.changed(["b\(failures)"]) == .nothing)
            let next = state.failed(batch)
            #expect(isWrite(next, after: min(Double(1 << (failures - 1)), 8)))
            #expect(state.wait("w\(failures)")?.next == .nothing)
            #expect(state.changed(["c"]) == .nothing)
        }
        #expect(state.failuresInARow == 5)
        let batch = try begin(&state)
        #expect(batch.rooms == ["a", "b1", "b2", "b3", "b4", "b5", "c"])
        #expect(state.succeeded(batch).done == ["w1", "w2", "w3", "w4", "w5"])
        #expect(state.failures == 5)
        #expect(state.failuresInARow == 0)
        #expect(state.writes == 1)
        #expect(state.changed(["d"]) == .write(after: 0.1))
    }

    @Test("Whoever gave up is not answered again")
    func givingUp() throws {
        var state = makeState()
        _ = state.changed(["a"])
        let waiting = state.wait("one")
        let id = try #require(waiting?.id)
        #expect(state.giveUp(id) == "one")
        #expect(state.giveUp(id) == nil)
        let batch = try begin(&state)
        #expect(state.succeeded(batch).done.isEmpty)
    }

    @Test("Between two tries it waits twice as long each time, up to a limit, and never quite the same")
    func delays() {
        let delay = RetryDelay(first: 0.5, longest: 5)
        #expect((1...6).map { delay.seconds(after: $0, chance: 0.5) } == [0.5, 1, 2, 4, 5, 5])
        #expect(delay.seconds(after: 0, chance: 0) == 0.375)
        #expect(delay.seconds(after: 1_000_000, chance: 1) == 6.25)
    }
}
