/// What is to be written, what is on disk, and who waits for it; the rules of the keeper, without its queue and database.
struct KeeperState<Waiter: Sendable>: Sendable {
    /// Rooms to write, and up to which change they will be written.
    struct Batch: Equatable {
        let rooms: Set<String>
        let version: UInt64
    }

    /// What the keeper has to do next.
    enum Next: Equatable {
        case nothing
        case write(after: Double)
    }

    private enum Phase {
        case idle
        /// A write is on its way that will find what is dirty now.
        case scheduled
        case writing
    }

    private let gathering: Double
    private let retry: RetryDelay
    private var dirty: Set<String> = []
    /// What is being written now.
    private var inHand: Set<String> = []
    /// Counts the changes.
    private var version: UInt64 = 0
    /// The latest change that is on disk, and all before it.
    private var durable: UInt64 = 0
    private var waiters: [UInt64: (version: UInt64, waiter: Waiter)] = [:]
    private var lastWaiter: UInt64 = 0
    private var phase = Phase.idle
    /// Somebody waits for what is dirty now.
    private var isUrgent = false
    private(set) var writes: UInt64 = 0
    private(set) var failures: UInt64 = 0
    private(set) var failuresInARow = 0

    init(gathering: Double, retry: RetryDelay) {
        self.gathering = gathering
        self.retry = retry
    }

    /// Rooms that are not on disk as they are now.
    var waitingRooms: Int { dirty.union(inHand).count }

    mutating func changed(_ rooms: some Sequence<String>) -> Next {
        dirty.formUnion(rooms)
        version += 1
        guard phase == .idle else { return .nothing }
        return schedule()
    }

    /// Somebody waits until all changes so far are on disk; nil when they are.
    mutating func wait(_ waiter: Waiter) -> (id: UInt64, next: Next)? {
        guard durable < version else { return nil }
        lastWaiter += 1
        waiters[lastWaiter] = (version, waiter)
        // While tries fail, the next one comes in its time.
        guard !isUrgent, failuresInARow == 0 else { return (lastWaiter, .nothing) }
        isUrgent = true
        return (lastWaiter, phase == .writing ? .nothing : schedule())
    }

    /// Takes back somebody who does not wait any longer.
    mutating func giveUp(_ id: UInt64) -> Waiter? {
        waiters.removeValue(forKey: id)?.waiter
    }

    /// What to write now; nil for nothing.
    mutating func begin() -> Batch? {
        // An urgent write overtakes the one that was gathering, which then finds nothing or a little more.
        guard phase != .writing, !dirty.isEmpty else { return nil }
        phase = .writing
        isUrgent = false
        inHand = dirty
        defer { dirty.removeAll() }
        return Batch(rooms: dirty, version: version)
    }

    /// A batch is on disk.
    ///
    /// - Returns: Those whose wait is over, and what comes next.
    mutating func succeeded(_ batch: Batch) -> (done: [Waiter], next: Next) {
        writes += 1
        failuresInARow = 0
        inHand.removeAll()
        durable = max(durable, batch.version)
        let done = waiters.filter { $0.value.version <= durable }
        for id in done.keys { waiters[id] = nil }
        phase = .idle
        // Those who began to wait while tries failed are in a hurry too.
        isUrgent = isUrgent || !waiters.isEmpty
        return (done.sorted { $0.key < $1.key }.map(\.value.waiter), dirty.isEmpty ? .nothing : schedule())
    }

    /// A batch is not on disk; its rooms are to be written still.
    mutating func failed(_ batch: Batch) -> Next {
        failures += 1
        failuresInARow += 1
        inHand.removeAll()
        dirty.formUnion(batch.rooms)
        phase = .idle
        return schedule()
    }

    private mutating func schedule() -> Next {
        phase = .scheduled
        if failuresInARow > 0 { return .write(after: retry.seconds(after: failuresInARow)) }
        return .write(after: isUrgent ? 0 : gathering)
    }
}
