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
        case writing
    }

    private let writeDelay: Double
    private let retry: Backoff
    private var dirty: Set<String> = []
    /// Rooms of the batch that is being written.
    private var roomsInFlight: Set<String> = []
    /// The number of changes so far.
    private var version: UInt64 = 0
    /// The latest change that is on disk; all earlier ones are too.
    private var durable: UInt64 = 0
    private var waiters: [UInt64: (version: UInt64, waiter: Waiter)] = [:]
    private var lastWaiter: UInt64 = 0
    private var phase = Phase.idle
    /// Whether a waiter depends on the dirty rooms.
    private var isUrgent = false
    private(set) var writes: UInt64 = 0
    private(set) var failures: UInt64 = 0
    private(set) var consecutiveFailures = 0

    init(writeDelay: Double, retry: Backoff) {
        self.writeDelay = writeDelay
        self.retry = retry
    }

    /// The number of rooms whose current state is not on disk.
    var pendingRooms: Int { dirty.union(roomsInFlight).count }

    mutating func markChanged(_ rooms: some Sequence<String>) -> Next {
        dirty.formUnion(rooms)
        version += 1
        guard phase == .idle else { return .nothing }
        return schedule()
    }

    /// Adds a waiter for all changes so far; nil when they are on disk already.
    mutating func addWaiter(_ waiter: Waiter) -> (id: UInt64, next: Next)? {
        guard durable < version else { return nil }
        lastWaiter += 1
        waiters[lastWaiter] = (version, waiter)
        // After a failure the scheduled retry is not brought forward.
        guard !isUrgent, consecutiveFailures == 0 else { return (lastWaiter, .nothing) }
        isUrgent = true
        return (lastWaiter, phase == .writing ? .nothing : schedule())
    }

    /// Removes a waiter whose deadline has passed.
    mutating func removeWaiter(_ id: UInt64) -> Waiter? {
        waiters.removeValue(forKey: id)?.waiter
    }

    /// Returns the batch to write now; nil when there is none.
    mutating func nextBatch() -> Batch? {
        // An urgent write may overtake a delayed one, which then finds little or nothing to write.
        guard phase != .writing, !dirty.isEmpty else { return nil }
        phase = .writing
        isUrgent = false
        roomsInFlight = dirty
        defer { dirty.removeAll() }
        return Batch(rooms: dirty, version: version)
    }

    /// Records that a batch is on disk.
    ///
    /// - Returns: The waiters whose changes are durable, and the next action.
    mutating func complete(_ batch: Batch) -> (done: [Waiter], next: Next) {
        writes += 1
        consecutiveFailures = 0
        roomsInFlight.removeAll()
        durable = max(durable, batch.version)
        let done = waiters.filter { $0.value.version <= durable }
        for id in done.keys { waiters[id] = nil }
        phase = .idle
        // Waiters that were added after a failure are urgent too.
        isUrgent = isUrgent || !waiters.isEmpty
        return (done.sorted { $0.key < $1.key }.map(\.value.waiter), dirty.isEmpty ? .nothing : schedule())
    }

    /// Records that a batch could not be written; its rooms become dirty again.
    mutating func fail(_ batch: Batch) -> Next {
        failures += 1
        consecutiveFailures += 1
        roomsInFlight.removeAll()
        dirty.formUnion(batch.rooms)
        phase = .idle
        return schedule()
    }

    private mutating func schedule() -> Next {
        phase = .scheduled
        if consecutiveFailures > 0 { return .write(after: retry.delay(retry: consecutiveFailures - 1)) }
        return .write(after: isUrgent ? 0 : writeDelay)
    }
}
