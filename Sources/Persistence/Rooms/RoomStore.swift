import Dispatch
import Foundation
public import Logging
import Media
public import Stage
import Synchronization

/// Stores the rooms in a database, so that a restarted gateway restores them.
///
/// After a change the store writes the room's record, together with all other changed rooms, on its own queue. Callers
/// that need durability wait with `flush`, up to a deadline. Writes that fail are retried, except those of rooms that
/// another gateway owns by now. No other caller ever blocks.
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
    private let storage: any RoomStorage
    private let onRefused: @Sendable (_ room: String) -> Void
    /// The reason of the last write's failure; nil when it succeeded.
    private let lastFailure = Mutex<String?>(nil)
    /// The number of writes since the last one that delayed no room.
    private let delays = Mutex(0)

    /// Creates a store with its rooms in a SQLite file; `load()` or the first write opens it.
    ///
    /// A damaged file is quarantined and replaced.
    ///
    /// - Parameters:
    ///   - path: The path of the file; SQLite creates two more with the suffixes `-wal` and `-shm`.
    ///   - lockTimeout: Seconds to wait for a lock of another process, per attempt.
    ///   - source: Provides the records, on the store's queue.
    public convenience init(
        _ configuration: RoomStoreConfiguration = RoomStoreConfiguration(),
        path: String,
        lockTimeout: Double = 0.5,
        source: any RoomRecordSource,
        logger: Logger
    ) {
        let connection = StoreConnection<RoomDatabase>(path: path, lockTimeout: lockTimeout, logger: logger)
        self.init(configuration, storage: connection, source: source, logger: logger)
    }

    /// Creates a store with its rooms in a database.
    ///
    /// - Parameters:
    ///   - source: Provides the records, on the store's queue.
    ///   - onRefused: Called on the store's queue after a room could not be written because another gateway owns it.
    public init(
        _ configuration: RoomStoreConfiguration = RoomStoreConfiguration(),
        storage: any RoomStorage,
        source: any RoomRecordSource,
        onRefused: @escaping @Sendable (_ room: String) -> Void = { _ in },
        logger: Logger
    ) {
        self.configuration = configuration
        self.storage = storage
        self.source = source
        self.onRefused = onRefused
        self.logger = logger
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

    /// Loads the record of one room, after this gateway became its owner; nil if it was never written.
    ///
    /// - Throws: `StoreFault` if the database does not answer or does not know the owner, or the reason why the record
    ///   cannot be decoded.
    public func load(room sid: String) async throws -> RoomRecord? {
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<RoomRecord?, any Error>) in
            queue.async { [storage] in
                do {
                    done.resume(returning: try storage.load(sid)?.decoded())
                } catch {
                    done.resume(throwing: error)
                }
            }
        }
    }

    /// Marks a room as changed; takes one lock and returns at once, on any thread.
    public func markChanged(room sid: String) {
        schedule(state.withLock { $0.markChanged(CollectionOfOne(sid)) })
    }

    /// Waits until all changes marked so far, or those of one room, are on disk.
    ///
    /// - Parameters:
    ///   - sid: The room as it was marked; nil for all rooms, except those that another gateway owns by now.
    ///   - seconds: The maximum wait.
    /// - Returns: Whether they are on disk.
    public func flush(room sid: String? = nil, within seconds: Double) async -> Bool {
        await withCheckedContinuation { waiter in
            guard let (id, next) = state.withLock({ $0.addWaiter(waiter, room: sid) }) else {
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
            queue.async { [storage] in
                storage.close()
                closed.resume()
            }
        }
        return isDone
    }

    /// The store's counters and pending work.
    public var status: RoomStoreStatus {
        let quarantined = storage.quarantinedDatabases
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
                try storage.probe()
                answer(lastFailure.withLock { $0 })
            } catch {
                if storage.needsFullWrite { schedule(state.withLock { $0.markChanged(source.roomSIDs()) }) }
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
            let result = try storage.write { changes(of: batch.rooms, isFullWrite: $0) }
            lastFailure.withLock { $0 = nil }
            let (done, refused, next) = state.withLock { state in
                state.complete(batch, refused: result.refused, delayed: Set(result.delayed.keys))
            }
            for waiter in done { waiter.resume(returning: true) }
            for waiter in refused { waiter.resume(returning: false) }
            report(result)
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

    /// Reports the rooms that could not be written although the database answered.
    private func report(_ result: RoomWriteResult) {
        for room in result.refused.sorted() {
            logger.warning("a room is not stored, because another gateway owns it", metadata: ["room": "\(room)"])
            onRefused(room)
        }
        let isReported = delays.withLock { delays in
            delays = result.delayed.isEmpty ? 0 : delays + 1
            // The owner of a new room is normally known by the next write.
            return delays % 10 == 3
        }
        guard isReported, let (room, reason) = result.delayed.min(by: { $0.key < $1.key }) else { return }
        logger.warning(
            "rooms cannot be stored yet; retrying",
            metadata: ["rooms": "\(result.delayed.count)", "room": "\(room)", "reason": "\(reason)"]
        )
    }

    /// Loads all rooms that can be decoded.
    private func loadRecords() -> [RoomRecord] {
        let rooms: [StoredRoom]
        do {
            rooms = try storage.load()
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

    /// Returns the current records of changed rooms, or of all rooms, and those to delete because they are forgotten.
    private func changes(of changed: Set<String>, isFullWrite: Bool) -> RoomChanges {
        var changes = RoomChanges(
            rooms: [],
            maximumEnded: configuration.maximumEndedRooms,
            endedSince: Date().timeIntervalSince1970 - configuration.endedRoomRetention
        )
        for sid in (isFullWrite ? changed.union(source.roomSIDs()) : changed).sorted() {
            guard let record = source.record(of: sid) else {
                changes.removed.append(sid)
                continue
            }
            do {
                changes.rooms.append(try StoredRoom(record))
            } catch {
                // One room that cannot be encoded must not block the others.
                logger.error("a room cannot be written as JSON", metadata: ["room": "\(sid)", "reason": "\(error)"])
            }
        }
        return changes
    }
}

/// Configures the room store: its retention, write delay and retries.
public struct RoomStoreConfiguration: Sendable, Hashable {
    /// The maximum number of ended rooms to retain; the oldest are deleted first.
    public var maximumEndedRooms: Int
    /// Retention of an ended room, in seconds.
    public var endedRoomRetention: Double
    /// Delay in seconds that batches changes before a write, unless a caller waits in `flush`.
    public var writeDelay: Double
    /// Seconds until the first retry; the delay doubles with every further failure.
    public var initialRetryDelay: Double
    /// The maximum delay between two attempts, in seconds.
    public var maximumRetryDelay: Double

    /// Creates a configuration with defaults for the rest.
    public init(
        maximumEndedRooms: Int = 100,
        endedRoomRetention: Double = 30 * 86_400,
        writeDelay: Double = 0.1,
        initialRetryDelay: Double = 0.1,
        maximumRetryDelay: Double = 5
    ) {
        self.maximumEndedRooms = maximumEndedRooms
        self.endedRoomRetention = endedRoomRetention
        self.writeDelay = writeDelay
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
