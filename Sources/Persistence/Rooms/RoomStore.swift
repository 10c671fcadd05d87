import Dispatch
import Foundation
public import Logging
import Media
public import Stage
import Synchronization

/// Stores the rooms on disk, so that a restarted gateway restores them.
///
/// After a change the store writes the room's record, together with all other changed rooms, in one transaction on its
/// own queue. Callers that need durability wait with `flush`, up to a deadline. Writes to a locked or full database are
/// retried; a damaged database is quarantined and replaced. No other caller ever blocks.
public final class RoomStore: Sendable {
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private let configuration: RoomStoreConfiguration
    private let source: any RoomRecordSource
    private let logger: Logger
    private let state: Mutex<RoomWriteQueue<Waiter>>
    /// Serializes all access to the database.
    private let queue = DispatchQueue(label: "footlight.rooms", qos: .utility)
    /// Runs the deadlines of `flush`, because `queue` may be blocked in a write.
    private let deadlines = DispatchQueue(label: "footlight.rooms.deadlines", qos: .utility)
    private let connection: StoreConnection<RoomDatabase>
    /// The reason of the last write's failure; nil when it succeeded.
    private let lastFailure = Mutex<String?>(nil)

    /// Creates a store; `load()` or the first write opens the database.
    ///
    /// - Parameter source: Provides the records, on the store's queue.
    public init(_ configuration: RoomStoreConfiguration, source: any RoomRecordSource, logger: Logger) {
        self.configuration = configuration
        self.source = source
        self.logger = logger
        connection = StoreConnection(
            path: configuration.path,
            lockTimeout: configuration.lockTimeout,
            logger: logger
        )
        state = Mutex(
            RoomWriteQueue(
                writeDelay: configuration.writeDelay,
                retry: Backoff(
                    initial: configuration.initialRetryDelay,
                    maximum: configuration.maximumRetryDelay,
                    jitter: 0.25
                )
            )
        )
    }

    /// Loads the rooms of an earlier run for `RoomDirectory.restore`; empty when they cannot be read.
    ///
    /// Of several rooms in progress with one name only the newest is returned; the others are deleted from the
    /// database.
    ///
    /// Call it once, before anyone is admitted. Takes as long as the disk does, at most a few lock timeouts.
    public func load() -> [RoomRecord] {
        let records = queue.sync { loadRecords() }
        let superseded = RoomRecord.superseded(in: records)
        guard !superseded.isEmpty else { return records }
        logger.warning("several stored rooms have one name", metadata: ["left_out": "\(superseded.sorted())"])
        schedule(state.withLock { $0.markChanged(superseded) })
        return records.filter { !superseded.contains($0.sid) }
    }

    /// Marks a room as changed; takes one lock and returns at once, on any thread.
    public func markChanged(room sid: String) {
        schedule(state.withLock { $0.markChanged(CollectionOfOne(sid)) })
    }

    /// Waits until all changes marked so far are on disk.
    ///
    /// - Parameter seconds: The maximum wait.
    /// - Returns: Whether they are on disk.
    public func flush(within seconds: Double) async -> Bool {
        await withCheckedContinuation { waiter in
            guard let (id, next) = state.withLock({ $0.addWaiter(waiter) }) else {
                return waiter.resume(returning: true)
            }
            deadlines.asyncAfter(deadline: .now() + max(seconds, 0)) { [self] in
                state.withLock { $0.removeWaiter(id) }?.resume(returning: false)
            }
            schedule(next)
        }
    }

    /// Writes pending changes and closes the database; a later change reopens it.
    ///
    /// - Returns: Whether everything is on disk.
    @discardableResult
    public func close(within seconds: Double) async -> Bool {
        let isDone = await flush(within: seconds)
        await withCheckedContinuation { closed in
            queue.async { [connection] in
                connection.close()
                closed.resume()
            }
        }
        return isDone
    }

    /// The store's counters and pending work.
    public var status: RoomStoreStatus {
        let quarantined = connection.faults.quarantined
        return state.withLock { state in
            RoomStoreStatus(
                pendingRooms: state.pendingRooms,
                writes: state.writes,
                failures: state.failures,
                consecutiveFailures: state.consecutiveFailures,
                quarantinedDatabases: quarantined
            )
        }
    }

    /// Checks, on the store's queue, whether rooms could be written at this moment.
    ///
    /// A database that was deleted, replaced or damaged is recreated with all rooms.
    ///
    /// - Parameter answer: Called on that queue with the problem, or nil, after a write in progress has finished.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            do throws(StoreFault) {
                try connection.probe()
                answer(lastFailure.withLock { $0 })
            } catch {
                if connection.needsFullWrite { schedule(state.withLock { $0.markChanged(source.roomSIDs()) }) }
                answer(error.reason)
            }
        }
    }

    private func schedule(_ next: RoomWriteQueue<Waiter>.Next) {
        guard case .write(let delay) = next else { return }
        if delay > 0 {
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.write() }
        } else {
            queue.async { [weak self] in self?.write() }
        }
    }

    private func write() {
        guard let batch = state.withLock({ $0.nextBatch() }) else { return }
        do {
            try connection.perform { (database) throws(StoreFault) in try save(batch.rooms, in: database) }
            lastFailure.withLock { $0 = nil }
            let (done, next) = state.withLock { $0.complete(batch) }
            for waiter in done { waiter.resume(returning: true) }
            schedule(next)
        } catch {
            lastFailure.withLock { $0 = error.reason }
            let (next, failures) = state.withLock { state in (state.fail(batch), state.consecutiveFailures) }
            // Logs the first failure and every tenth one after it.
            if failures % 10 == 1 {
                logger.error(
                    "rooms cannot be stored; retrying",
                    metadata: ["reason": "\(error.reason)", "failures": "\(failures)", "rooms": "\(batch.rooms.count)"]
                )
            }
            schedule(next)
        }
    }

    /// Loads all rooms that can be decoded.
    private func loadRecords() -> [RoomRecord] {
        let rooms: [StoredRoom]
        do {
            rooms = try connection.load { (database) throws(StoreFault) in try database.load() }
        } catch {
            logger.error("stored rooms cannot be read; continuing without them", metadata: ["reason": "\(error)"])
            return []
        }
        return rooms.compactMap { room in
            do {
                return try room.decoded()
            } catch {
                logger.error("a stored room cannot be read", metadata: ["room": "\(room.sid)", "reason": "\(error)"])
                return nil
            }
        }
    }

    /// Writes the current records of rooms, and deletes those that are forgotten.
    ///
    /// A recreated database receives all rooms.
    private func save(_ changed: Set<String>, in database: RoomDatabase) throws(StoreFault) {
        let isFullWrite = connection.needsFullWrite
        var rooms: [StoredRoom] = []
        var gone: [String] = []
        for sid in (isFullWrite ? changed.union(source.roomSIDs()) : changed).sorted() {
            guard let record = source.record(of: sid) else {
                gone.append(sid)
                continue
            }
            do {
                rooms.append(try StoredRoom(record))
            } catch {
                // One room that cannot be encoded must not block the others.
                logger.error("a room cannot be written as JSON", metadata: ["room": "\(sid)", "reason": "\(error)"])
            }
        }
        try database.save(
            rooms,
            removing: gone,
            maximumEnded: configuration.maximumEndedRooms,
            endedSince: Date().timeIntervalSince1970 - configuration.endedRoomRetention
        )
        if isFullWrite { connection.fullWriteCompleted() }
    }
}

/// Configures the room store: its file, retention, write delay and retries.
public struct RoomStoreConfiguration: Sendable, Hashable {
    /// The path of the database file; SQLite creates two more with the suffixes `-wal` and `-shm`.
    public var path: String
    /// The maximum number of ended rooms to retain; the oldest are deleted first.
    public var maximumEndedRooms: Int
    /// Retention of an ended room, in seconds.
    public var endedRoomRetention: Double
    /// Delay in seconds that batches changes before a write, unless a caller waits in `flush`.
    public var writeDelay: Double
    /// Seconds to wait for a lock of another process, per attempt.
    public var lockTimeout: Double
    /// Seconds until the first retry; the delay doubles with every further failure.
    public var initialRetryDelay: Double
    /// The maximum delay between two attempts, in seconds.
    public var maximumRetryDelay: Double

    /// Creates a configuration with defaults for the rest.
    public init(
        path: String,
        maximumEndedRooms: Int = 100,
        endedRoomRetention: Double = 30 * 86_400,
        writeDelay: Double = 0.1,
        lockTimeout: Double = 0.5,
        initialRetryDelay: Double = 0.1,
        maximumRetryDelay: Double = 5
    ) {
        self.path = path
        self.maximumEndedRooms = maximumEndedRooms
        self.endedRoomRetention = endedRoomRetention
        self.writeDelay = writeDelay
        self.lockTimeout = lockTimeout
        self.initialRetryDelay = initialRetryDelay
        self.maximumRetryDelay = maximumRetryDelay
    }
}

/// The counters and pending work of a room store.
public struct RoomStoreStatus: Sendable, Hashable {
    /// Rooms that changed since they were last written.
    public var pendingRooms: Int
    /// Committed transactions.
    public var writes: UInt64
    /// Failed writes.
    public var failures: UInt64
    /// Failed writes since the last successful one.
    public var consecutiveFailures: Int
    /// Databases quarantined because they could not be read.
    public var quarantinedDatabases: Int
}

/// Provides the current records of rooms.
public protocol RoomRecordSource: Sendable {
    /// Returns the current record of a room; nil when it is forgotten.
    func record(of room: String) -> RoomRecord?

    /// The sids of all rooms, remembered ended ones included.
    func roomSIDs() -> [String]
}

extension RoomDirectory: RoomRecordSource {
    /// The sids of all rooms, remembered ended ones included.
    public func roomSIDs() -> [String] {
        rooms().map(\.sid)
    }
}
