import Media

/// Tracks which rooms are dirty, in flight and durable, and who waits for them; without any I/O of its own.
struct RoomWriteQueue<Waiter: Sendable>: Sendable {
    /// The rooms to write, and the version of the latest change among them.
    struct Batch: Equatable {
        let rooms: Set<String>
        let version: UInt64
    }

    /// The next action of the store.
    enum Next: Equatable {
        case nothing
        case write(after: Double)
    }

    private enum Phase {
        case idle
        /// A write is scheduled that will take all dirty rooms.
        case scheduled
        /// All dirty rooms are delayed, and a retry is scheduled that later changes need not wait for.
        case delaying
        case writing
    }

    private struct Wait: Sendable {
        /// The change that has to be durable.
        var version: UInt64
        /// The room of that change; nil for all rooms.
        var room: String?
        var waiter: Waiter
    }

    private let writeDelay: Double
    private let retry: Backoff
    /// The latest change of each room that is not on disk.
    private var dirty: [String: UInt64] = [:]
    /// The latest change of each room in the batch that is being written.
    private var inFlight: [String: UInt64] = [:]
    /// The number of changes so far.
    private var version: UInt64 = 0
    /// The latest change that is on disk; all earlier ones are too.
    private var durable: UInt64 = 0
    private var waits: [UInt64: Wait] = [:]
    private var lastWaiter: UInt64 = 0
    private var phase = Phase.idle
    /// Whether a waiter depends on the dirty rooms.
    private var isUrgent = false
    /// The number of `write` actions that the store has not begun.
    private var scheduledWrites = 0
    /// The number of writes since the last one that delayed no room.
    private var consecutiveDelays = 0
    private(set) var writes: UInt64 = 0
    private(set) var failures: UInt64 = 0
    private(set) var consecutiveFailures = 0

    init(writeDelay: Double, retry: Backoff) {
        self.writeDelay = writeDelay
        self.retry = retry
    }

    /// The number of rooms whose current state is not on disk.
    var pendingRooms: Int { Set(dirty.keys).union(inFlight.keys).count }

    mutating func markChanged(_ rooms: some Sequence<String>) -> Next {
        version += 1
        for room in rooms { dirty[room] = version }
        guard phase == .idle || phase == .delaying else { return .nothing }
        return schedule()
    }

    /// Adds a waiter for all changes so far, or for those of one room; nil when they are on disk already.
    mutating func addWaiter(_ waiter: Waiter, room: String? = nil) -> (id: UInt64, next: Next)? {
        let target = room.map { dirty[$0] ?? inFlight[$0] ?? 0 } ?? version
        guard durable < target else { return nil }
        lastWaiter += 1
        waits[lastWaiter] = Wait(version: target, room: room, waiter: waiter)
        // After a failure the scheduled retry is not brought forward.
        guard !isUrgent, consecutiveFailures == 0 else { return (lastWaiter, .nothing) }
        isUrgent = true
        return (lastWaiter, phase == .writing ? .nothing : schedule())
    }

    /// Removes a waiter whose deadline has passed.
    mutating func removeWaiter(_ id: UInt64) -> Waiter? {
        waits.removeValue(forKey: id)?.waiter
    }

    /// Returns the batch to write now; nil when there is none.
    mutating func nextBatch() -> Batch? {
        scheduledWrites = max(scheduledWrites - 1, 0)
        // An urgent write may overtake a delayed one, which then finds little or nothing to write.
        guard phase != .writing, !dirty.isEmpty else { return nil }
        phase = .writing
        isUrgent = false
        inFlight = dirty
        dirty.removeAll()
        return Batch(rooms: Set(inFlight.keys), version: version)
    }

    /// Records that the database answered to a batch.
    ///
    /// - Parameters:
    ///   - refused: The rooms that another gateway owns, which are not written again.
    ///   - delayed: The rooms to write again later; they become dirty again.
    /// - Returns: The waiters whose changes are durable, those whose room was refused, and the next action.
    mutating func complete(
        _ batch: Batch,
        refused: Set<String> = [],
        delayed: Set<String> = []
    ) -> (done: [Waiter], refused: [Waiter], next: Next) {
        writes += 1
        consecutiveFailures = 0
        let hasLaterChanges = !dirty.isEmpty
        for room in delayed { dirty[room] = dirty[room] ?? inFlight[room] }
        inFlight.removeAll()
        if delayed.isEmpty {
            durable = max(durable, batch.version)
            consecutiveDelays = 0
        } else {
            consecutiveDelays += 1
        }
        var (done, failed): ([Waiter], [Waiter]) = ([], [])
        for (id, wait) in waits.sorted(by: { $0.key < $1.key }) where wait.version <= batch.version {
            if let room = wait.room {
                guard !delayed.contains(room) else { continue }
                if refused.contains(room) { failed.append(wait.waiter) } else { done.append(wait.waiter) }
            } else {
                guard delayed.isEmpty else { continue }
                done.append(wait.waiter)
            }
            waits[id] = nil
        }
        phase = .idle
        guard hasLaterChanges || delayed.isEmpty else { return (done, failed, scheduleDelayed()) }
        // Waiters that were added after a failure are urgent too.
        isUrgent = isUrgent || !waits.isEmpty
        return (done, failed, dirty.isEmpty ? .nothing : schedule())
    }

    /// Records that a batch could not be written; its rooms become dirty again.
    mutating func fail(_ batch: Batch) -> Next {
        failures += 1
        consecutiveFailures += 1
        dirty.merge(inFlight) { later, _ in later }
        inFlight.removeAll()
        phase = .idle
        return schedule()
    }

    private mutating func schedule() -> Next {
        phase = .scheduled
        scheduledWrites += 1
        if consecutiveFailures > 0 { return .write(after: retry.delay(retry: consecutiveFailures - 1)) }
        return .write(after: isUrgent ? 0 : writeDelay)
    }

    /// Schedules a retry of delayed rooms, for which waiters do not hurry it.
    private mutating func scheduleDelayed() -> Next {
        phase = .delaying
        isUrgent = false
        // A write that was overtaken is the retry; with one more each time there would be ever more of them.
        guard scheduledWrites == 0 else { return .nothing }
        scheduledWrites += 1
        return .write(after: retry.delay(retry: consecutiveDelays - 1))
    }
}
