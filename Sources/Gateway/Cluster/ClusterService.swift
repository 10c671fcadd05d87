import Cluster
import Foundation
import Logging
import Media
import PostgresStore
import ServiceLifecycle
import Stage

/// Holds this gateway's lease, claims its rooms and learns of those of others, over the store of the cluster.
///
/// Without the store everything on air goes on; only new rooms are refused. A room that another gateway has claimed
/// later than this one is closed here.
struct ClusterService: Service {
    /// Seconds between two removals of released rooms.
    private static let tidyInterval = 3600.0
    /// The file with the incarnation of the process that last held the lease.
    static let incarnationFile = "cluster.incarnation"

    let membership: ClusterMembership
    let stage: RoomDirectory
    let database: any ClusterStore
    let directory: DataDirectory
    /// Creates the tables of the store; throws until that was done.
    let prepare: @Sendable () async throws -> Void
    /// Removes what the store need not hold any longer.
    let tidy: @Sendable () async throws -> Void
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await prepareStore()
            await withDiscardingTaskGroup { tasks in
                var lastTidied = MonotonicTime.now()
                var known: NodeIdentity?
                while !Task.isCancelled {
                    closeLostRooms()
                    guard let action = membership.nextAction(wallSeconds: Date().timeIntervalSince1970) else {
                        await membership.waitForTurn()
                        continue
                    }
                    await execute(action)
                    let present = membership.identity
                    if present != known {
                        log(present)
                        // The next heartbeat must not wait for the disk.
                        if let present { tasks.addTask { await store(present) } }
                    }
                    known = present
                    guard MonotonicTime.now().seconds(since: lastTidied) > Self.tidyInterval else { continue }
                    lastTidied = .now()
                    // The next hour removes what remains.
                    try? await tidy()
                }
            }
        }
        membership.close()
    }

    /// Returns the incarnations of earlier processes with this data folder, which are over since it is locked.
    static func predecessors(in directory: DataDirectory) -> [UInt64] {
        let text = (try? directory.read(incarnationFile)).flatMap { $0 }.map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { UInt64($0) }.map { [$0] } ?? []
    }

    private func prepareStore() async {
        var backoff = Backoff(initial: 0.2, maximum: 5)
        var problem: String?
        while !Task.isCancelled {
            do {
                return try await prepare()
            } catch {
                if problem != "\(error)" {
                    logger.error("cluster database cannot be used", metadata: ["reason": "\(error)"])
                }
                problem = "\(error)"
            }
            // Cancellation ends the sleep and, with it, the loop.
            try? await Task.sleep(for: .seconds(backoff.next()))
        }
    }

    private func closeLostRooms() {
        for reference in membership.reconcile(stage.referencesInUse) {
            // The name of a show may be that of another gateway's room while no room of it is open here.
            guard stage.close(room: reference) else { continue }
            logger.error("room ended here: another gateway has it", metadata: ["room": "\(reference)"])
        }
    }

    private func execute(_ action: ClusterMember.Action) async {
        let began = MonotonicTime.now()
        do {
            switch action {
            case .read:
                membership.received(try await database.read())
            case .write(let write):
                let result = try await database.write(write)
                let changes = membership.written(result, seconds: MonotonicTime.now().seconds(since: began))
                for change in changes { log(change) }
            }
        } catch {
            // The link has logged it.
            membership.unanswered()
        }
    }

    private func log(_ change: ClusterMember.Change) {
        switch change {
        case .gained(let tenure):
            logger.debug("room claimed", metadata: ["room": "\(tenure.room)", "fence": "\(tenure.fence)"])
        case .lost(let tenure):
            logger.warning(
                "room lost with the lease",
                metadata: ["room": "\(tenure.room)", "fence": "\(tenure.fence)"]
            )
        }
    }

    /// Logs that the lease begins or ends.
    private func log(_ holder: NodeIdentity?) {
        if let holder {
            logger.notice("cluster lease is held", metadata: ["node": "\(holder.node)"])
        } else {
            logger.warning(
                "cluster lease is not held: new rooms are refused",
                metadata: ["node": "\(membership.node)"]
            )
        }
    }

    /// Stores the incarnation, so that the next process need not wait for the end of this one's lease.
    private func store(_ holder: NodeIdentity) async {
        let text = Data("\(holder.incarnation)".utf8)
        do {
            try await directory.onQueue { [directory] in
                try directory.write(text, to: Self.incarnationFile, mode: 0o600)
            }
        } catch {
            logger.warning("incarnation could not be stored", metadata: ["reason": "\(error)"])
        }
    }
}
