import Dispatch
import Foundation
public import Logging
import SQLiteStore
public import Stage
import Synchronization

/// Keeps the rooms on disk, so that a gateway that is started again finds them.
///
/// Told that a room changed, it writes that room's record soon after, together with all others that changed, in one
/// transaction on a queue of its own. Whoever must not go on before the change is safe waits with `flush`. A database
/// that is locked or full is tried again and again; one that is damaged is put aside and another one begun. None of it
/// ever stops anybody but those who wait, and they have a deadline.
public final class RoomKeeper: Sendable {
    private typealias Waiter = CheckedContinuation<Bool, Never>

    private let configuration: RoomStoreConfiguration
    private let source: any RoomRecordSource
    private let logger: Logger
    private let state: Mutex<KeeperState<Waiter>>
    /// Where the database is used, one thing at a time.
    private let queue = DispatchQueue(label: "footlight.rooms", qos: .utility)
    /// Where deadlines pass, while the other queue may be stuck in a write.
    private let deadlines = DispatchQueue(label: "footlight.rooms.deadlines", qos: .utility)
    private let shelf: Shelf
    /// Why the last write failed; nil when it did not.
    private let lastFault = Mutex<String?>(nil)

    /// Makes a keeper; nothing is opened before `load()` or the first write.
    ///
    /// - Parameter source: Asked for the records, on the keeper's queue.
    public init(_ configuration: RoomStoreConfiguration, source: any RoomRecordSource, logger: Logger) {
        self.configuration = configuration
        self.source = source
        self.logger = logger
        shelf = Shelf(configuration: configuration, logger: logger)
        state = Mutex(
            KeeperState(
                gathering: configuration.gathering,
                retry: RetryDelay(first: configuration.firstRetry, longest: configuration.longestRetry)
            )
        )
    }

    /// The rooms of an earlier life, for `RoomDirectory.restore`; empty when there are none that can be read.
    ///
    /// Of several rooms in progress with one name only the newest comes back; the others are taken out of the database.
    ///
    /// To be called once, before anybody is let in. Takes as long as the disk does, but no longer than a few lock
    /// time-outs.
    public func load() -> [RoomRecord] {
        let records = queue.sync { shelf.load() }
        let superseded = RoomRecord.superseded(in: records)
        guard !superseded.isEmpty else { return records }
        logger.warning("several stored rooms have one name", metadata: ["left_out": "\(superseded.sorted())"])
        follow(state.withLock { $0.changed(superseded) })
        return records.filter { !superseded.contains($0.sid) }
    }

    /// A room changed; costs a lock and returns at once, on any thread.
    public func changed(room sid: String) {
        follow(state.withLock { $0.changed(CollectionOfOne(sid)) })
    }

    /// Waits until all changes told so far are on disk.
    ///
    /// - Parameter seconds: How long to wait at most.
    /// - Returns: Whether they are.
    public func flush(within seconds: Double) async -> Bool {
        await withCheckedContinuation { waiter in
            guard let (id, next) = state.withLock({ $0.wait(waiter) }) else { return waiter.resume(returning: true) }
            deadlines.asyncAfter(deadline: .now() + max(seconds, 0)) { [self] in
                state.withLock { $0.giveUp(id) }?.resume(returning: false)
            }
            follow(next)
        }
    }

    /// Writes what is left and closes the database; a change told later opens it again.
    ///
    /// - Returns: Whether everything is on disk.
    @discardableResult
    public func close(within seconds: Double) async -> Bool {
        let isDone = await flush(within: seconds)
        await withCheckedContinuation { closed in
            queue.async { [shelf] in
                shelf.close()
                closed.resume()
            }
        }
        return isDone
    }

    /// How it goes.
    public var status: RoomKeeperStatus {
        let damaged = shelf.damagedDatabases
        return state.withLock { state in
            RoomKeeperStatus(
                waitingRooms: state.waitingRooms,
                writes: state.writes,
                failures: state.failures,
                failuresInARow: state.failuresInARow,
                damagedDatabases: damaged
            )
        }
    }

    /// Finds out, on the keeper's queue, whether rooms can be kept at this moment.
    ///
    /// A database that was deleted, replaced or damaged meanwhile is begun anew, with all rooms.
    ///
    /// - Parameter answer: Called on that queue with what is wrong, nil for nothing; not before a write that is under way
    ///   is over.
    public func probe(_ answer: @escaping @Sendable (_ problem: String?) -> Void) {
        queue.async { [self] in
            let finding = shelf.probe()
            if finding?.isNew ?? false { follow(state.withLock { $0.changed(source.recordedRooms()) }) }
            answer(finding?.fault.reason ?? lastFault.withLock { $0 })
        }
    }

    private func follow(_ next: KeeperState<Waiter>.Next) {
        guard case .write(let delay) = next else { return }
        if delay > 0 {
            queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.write() }
        } else {
            queue.async { [weak self] in self?.write() }
        }
    }

    private func write() {
        guard let batch = state.withLock({ $0.begin() }) else { return }
        do {
            try shelf.save(batch.rooms.sorted(), from: source)
            lastFault.withLock { $0 = nil }
            let (done, next) = state.withLock { $0.succeeded(batch) }
            for waiter in done { waiter.resume(returning: true) }
            follow(next)
        } catch {
            lastFault.withLock { $0 = error.reason }
            let (next, failures) = state.withLock { state in (state.failed(batch), state.failuresInARow) }
            // The first says that something is wrong, and every tenth that it still is.
            if failures % 10 == 1 {
                logger.error(
                    "rooms cannot be stored; trying again",
                    metadata: ["reason": "\(error.reason)", "failures": "\(failures)", "rooms": "\(batch.rooms.count)"]
                )
            }
            follow(next)
        }
    }
}
