import Dispatch
import Foundation
import Logging
import Persistence
import Stage
import Synchronization

/// The running livestreams of all rooms in one sealed file of the data folder, by which they go on after a restart.
///
/// The file holds stream keys of other platforms, encrypted and authenticated (AES-GCM) by a key that is derived from the
/// gateway's secret. Every change replaces it, on a queue of its own.
final class LivestreamPlans: Sendable {
    static let fileName = "livestreams.sealed"

    private let directory: DataDirectory
    private let seal: DataSeal
    private let logger: Logger
    private let plans = Mutex<[String: LivestreamPlan]>([:])
    private let queue = DispatchQueue(label: "footlight.livestream-plans", qos: .utility)

    /// - Parameter secret: The gateway's secret, the same after a restart.
    init(_ directory: DataDirectory, secret: [UInt8], logger: Logger) {
        self.directory = directory
        self.logger = logger
        seal = DataSeal(secret: secret, purpose: "footlight livestreams")
    }

    /// Reads the plans of an earlier run; empty, with a log message, if they cannot be read.
    func load() -> [String: LivestreamPlan] {
        do {
            guard let sealed = try directory.read(Self.fileName) else { return [:] }
            let content = try seal.open(sealed)
            let found = try JSONDecoder().decode([String: LivestreamPlan].self, from: content)
            plans.withLock { $0 = found }
            return found
        } catch {
            logger.error(
                "livestreams of the last run cannot be read, and must be started again",
                metadata: ["file": "\(directory.filePath(Self.fileName))", "reason": "\(error)"]
            )
            return [:]
        }
    }

    /// Stores the plan of a room; nil when its livestream has ended.
    ///
    /// Returns at once.
    func set(_ plan: LivestreamPlan?, of room: String) {
        let isChanged = plans.withLock { plans in
            guard plans[room] != plan else { return false }
            plans[room] = plan
            return true
        }
        guard isChanged else { return }
        queue.async { [self] in write() }
    }

    /// Waits until everything is on disk.
    func flush() {
        queue.sync {}
    }

    private func write() {
        let plans = plans.withLock { $0 }
        do {
            guard !plans.isEmpty else { return directory.remove(Self.fileName) }
            let sealed = try seal.seal(JSONEncoder().encode(plans))
            try directory.write(sealed, to: Self.fileName, mode: 0o600)
        } catch {
            logger.error(
                "running livestreams cannot be stored; after a restart they must be started again",
                metadata: ["reason": "\(error)"]
            )
        }
    }
}
