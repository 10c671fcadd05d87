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
        let (done, refused, next) = state.complete(batch)
        #expect(done.isEmpty && refused.isEmpty)
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

    @Test("a waiter for one room depends on that room alone")
    func oneRoom() throws {
        var state = makeState()
        #expect(state.addWaiter("zero", room: "a") == nil)
        _ = state.markChanged(["a"])
        _ = state.markChanged(["b"])
        #expect(state.addWaiter("a", room: "a")?.next == .write(after: 0))
        #expect(state.addWaiter("c", room: "c") == nil)
        let batch = try nextBatch(&state)
        _ = state.markChanged(["b"])
        // The change that is being written, and the one after it.
        #expect(state.addWaiter("same a", room: "a") != nil)
        #expect(state.addWaiter("later b", room: "b") != nil)
        #expect(state.complete(batch).done == ["a", "same a"])
        #expect(state.addWaiter("a", room: "a") == nil)
        let next = try nextBatch(&state)
        #expect(state.complete(next).done == ["later b"])
    }

    @Test("rooms of another owner are not written again, and only their waiters learn of it")
    func refused() throws {
        var state = makeState()
        _ = state.markChanged(["a", "b"])
        for (waiter, room) in [("a", "a"), ("b", "b"), ("all", nil)] { _ = state.addWaiter(waiter, room: room) }
        let batch = try nextBatch(&state)
        let (done, refused, next) = state.complete(batch, refused: ["b"])
        #expect(done == ["a", "all"])
        #expect(refused == ["b"])
        #expect(next == .nothing && state.pendingRooms == 0)
        #expect(state.addWaiter("all") == nil)
    }

    @Test("delayed rooms are retried with backoff, and delay neither others nor their waiters")
    func delayed() throws {
        var state = makeState()
        _ = state.markChanged(["a", "b"])
        for (waiter, room) in [("a", "a"), ("b", "b"), ("all", nil)] { _ = state.addWaiter(waiter, room: room) }
        var batch = try nextBatch(&state)
        var answer = state.complete(batch, delayed: ["b"])
        #expect(answer.done == ["a"] && answer.refused.isEmpty)
        // The write that was overtaken by the urgent one is the retry.
        #expect(answer.next == .nothing)
        #expect(state.pendingRooms == 1)
        batch = try nextBatch(&state)
        #expect(batch.rooms == ["b"])
        answer = state.complete(batch, delayed: ["b"])
        #expect(isWrite(answer.next, after: 2))
        // Another room need not wait for the retry, and takes the delayed one along.
        #expect(state.markChanged(["c"]) == .write(after: 0.1))
        batch = try nextBatch(&state)
        #expect(batch.rooms == ["b", "c"])
        answer = state.complete(batch, delayed: ["b"])
        #expect(answer.next == .nothing && answer.done.isEmpty)
        batch = try nextBatch(&state)
        answer = state.complete(batch)
        #expect(answer.done == ["b", "all"])
        #expect(answer.next == .nothing && state.pendingRooms == 0 && state.consecutiveFailures == 0)
    }

    @Test("a room that stays delayed is retried ever less often, however often others changed meanwhile")
    func delayedForLong() throws {
        var state = makeState()
        var timers: [Double] = []
        var writes: [Double] = []
        func schedule(_ next: State.Next, at now: Double) {
            if case .write(let delay) = next { timers.append(now + delay) }
        }
        schedule(state.markChanged(["stuck"]), at: 0)
        for step in 0..<6000 {
            let now = Double(step) / 100
            let due = timers.count { $0 <= now }
            timers.removeAll { $0 <= now }
            for _ in 0..<due {
                guard let batch = state.nextBatch() else { continue }
                writes.append(now)
                if now < 20, writes.count % 5 == 0 { schedule(state.markChanged(["other"]), at: now) }
                schedule(state.complete(batch, delayed: ["stuck"]).next, at: now)
            }
            guard now < 20 else { continue }
            if step % 7 == 0 { schedule(state.markChanged(["other"]), at: now) }
            if step % 20 == 0, let waiting = state.addWaiter("other", room: "other") {
                schedule(waiting.next, at: now)
            }
        }
        #expect(timers.count == 1)
        // The retries, each 6 to 10 s after the one before.
        #expect((3...7).contains(writes.count { $0 > 22 }), "\(writes.filter { $0 > 20 })")
    }
}
