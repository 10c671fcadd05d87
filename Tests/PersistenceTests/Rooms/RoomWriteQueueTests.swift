import Media
import Testing

@testable import Persistence

@Suite("Room write queue")
struct RoomWriteQueueTests {
    private typealias State = RoomWriteQueue<String>

    private func makeState() -> State {
        State(writeDelay: 0.1, retry: Backoff(initial: 1, maximum: 8, jitter: 0.25))
    }

    /// Whether a write is due after about `seconds`, with jitter.
    private func isWrite(_ next: State.Next, after seconds: Double) -> Bool {
        guard case .write(let delay) = next else { return false }
        return (seconds * 0.75...seconds * 1.25).contains(delay)
    }

    private func nextBatch(_ state: inout State) throws -> State.Batch {
        let batch = state.nextBatch()
        return try #require(batch)
    }

    @Test("changes are batched into one write")
    func writeDelay() throws {
        var state = makeState()
        #expect(state.markChanged(["a"]) == .write(after: 0.1))
        #expect(state.markChanged(["b"]) == .nothing)
        #expect(state.markChanged(["a"]) == .nothing)
        let batch = try nextBatch(&state)
        #expect(batch.rooms == ["a", "b"])
        #expect(state.pendingRooms == 2)
        let (done, next) = state.complete(batch)
        #expect(done.isEmpty)
        #expect(next == .nothing)
        #expect(state.nextBatch() == nil)
        #expect(state.pendingRooms == 0)
    }

    @Test("a waiter makes the write urgent, and is resumed when all earlier changes are on disk")
    func waiting() throws {
        var state = makeState()
        #expect(state.addWaiter("zero") == nil)
        _ = state.markChanged(["a"])
        #expect(state.addWaiter("one")?.next == .write(after: 0))
        #expect(state.addWaiter("two")?.next == .nothing)
        let batch = try nextBatch(&state)
        // A change during a write belongs to the next batch.
        #expect(state.markChanged(["b"]) == .nothing)
        #expect(state.addWaiter("three")?.next == .nothing)
        let first = state.complete(batch)
        #expect(first.done == ["one", "two"])
        #expect(first.next == .write(after: 0))
        let second = try nextBatch(&state)
        #expect(second.rooms == ["b"])
        #expect(state.complete(second).done == ["three"])
    }

    @Test("a write that was overtaken finds nothing to do")
    func overtaken() throws {
        var state = makeState()
        _ = state.markChanged(["a"])
        _ = state.addWaiter("one")
        let batch = try nextBatch(&state)
        #expect(state.nextBatch() == nil)
        _ = state.complete(batch)
        #expect(state.nextBatch() == nil)
    }

    @Test("a failed batch is retried with backoff together with later changes; waiters do not hurry it")
    func failing() throws {
        var state = makeState()
        _ = state.markChanged(["a"])
        for failures in 1...5 {
            let batch = try nextBatch(&state)
            #expect(state.markChanged(["b\(failures)"]) == .nothing)
            let next = state.fail(batch)
            #expect(isWrite(next, after: min(Double(1 << (failures - 1)), 8)))
            #expect(state.addWaiter("w\(failures)")?.next == .nothing)
            #expect(state.markChanged(["c"]) == .nothing)
        }
        #expect(state.consecutiveFailures == 5)
        let batch = try nextBatch(&state)
        #expect(batch.rooms == ["a", "b1", "b2", "b3", "b4", "b5", "c"])
        #expect(state.complete(batch).done == ["w1", "w2", "w3", "w4", "w5"])
        #expect(state.failures == 5)
        #expect(state.consecutiveFailures == 0)
        #expect(state.writes == 1)
        #expect(state.markChanged(["d"]) == .write(after: 0.1))
    }

    @Test("a removed waiter is not resumed again")
    func givingUp() throws {
        var state = makeState()
        _ = state.markChanged(["a"])
        let waiting = state.addWaiter("one")
        let id = try #require(waiting?.id)
        #expect(state.removeWaiter(id) == "one")
        #expect(state.removeWaiter(id) == nil)
        let batch = try nextBatch(&state)
        #expect(state.complete(batch).done.isEmpty)
    }
}
