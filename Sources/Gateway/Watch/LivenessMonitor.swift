import ControlAPI
import Dispatch
import Foundation
import Logging
import Media
import NIOCore
import ServiceLifecycle
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// Asks every part of the gateway once a second whether it still works, and tells `/readyz` and the service manager.
///
/// A part that owes its answer for three seconds is a reason not to be ready. The watchdog of the service manager gets its
/// beat only while no event loop and no store owes one for too long: a gateway that stands still is ended and started
/// again.
final class LivenessMonitor: Service {
    /// Something that can stop working by itself.
    struct Part: Sendable {
        let name: String
        let reason: Health.Reason
        /// Seconds without an answer after which the whole process is better started again; nil where that would not help.
        var fatal: Double?
        /// Calls back, on any thread and at once or later, with what is wrong, nil for nothing.
        let ask: @Sendable (_ answer: @escaping @Sendable (_ problem: String?) -> Void) -> Void
    }

    /// Seconds for which a part may owe its answer.
    static let patience = 3.0
    /// Free bytes of the data folder's disk below which the gateway is not ready.
    static let leastFreeBytes: UInt64 = 64 << 20
    private static let period = 1.0

    private struct State {
        var pulses = PulseTable()
        var problems: [Int: String] = [:]
        var status = ""
    }

    private let parts: [Part]
    private let health: Health
    private let manager: SystemdNotifier?
    private let state = Mutex(State())

    init(parts: [Part], health: Health, manager: SystemdNotifier?) {
        self.parts = parts
        self.health = health
        self.manager = manager
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                self.look(now: .now())
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.period), tolerance: .milliseconds(200))
            }
        }
        manager?.stopping()
    }

    /// Judges what all parts have answered since the last look, sends the beat when all is well, and asks again.
    func look(now: MonotonicTime) {
        let (problems, isAlive) = judge(now: now)
        for (reason, found) in problems { health.set(reason, found.isEmpty ? nil : found.joined(separator: "; ")) }
        tellManager(isAlive: isAlive)
        for index in state.withLock({ $0.pulses.ask(parts.indices, now: now) }) {
            parts[index].ask { [weak self] problem in
                self?.state.withLock { state in
                    state.pulses.answered(index)
                    state.problems[index] = problem
                }
            }
        }
    }

    /// What is wrong by reason, empty for a reason that is over, and whether the process had better go on.
    private func judge(now: MonotonicTime) -> (problems: [Health.Reason: [String]], isAlive: Bool) {
        state.withLock { state in
            state.pulses.look(now: now)
            var problems: [Health.Reason: [String]] = [:]
            var isAlive = true
            for (index, part) in parts.enumerated() {
                problems[part.reason, default: []] += []
                let late = state.pulses.lateness(of: index, now: now)
                if late >= Self.patience {
                    problems[part.reason, default: []].append("\(part.name) has not answered for \(Int(late)) s")
                } else if let problem = state.problems[index] {
                    problems[part.reason, default: []].append("\(part.name): \(problem)")
                }
                if let fatal = part.mostLateness(watchdog: manager?.watchdogSeconds), late >= fatal { isAlive = false }
            }
            return (problems, isAlive)
        }
    }

    private func tellManager(isAlive: Bool) {
        guard let manager else { return }
        if isAlive { manager.beat() }
        let reasons = health.readiness.reasons
        let status = reasons.isEmpty ? "ready" : reasons.map { "\($0.name): \($0.problem)" }.joined(separator: "; ")
        let isNews = state.withLock { state in
            defer { state.status = status }
            return state.status != status
        }
        if isNews { manager.status(status) }
    }
}

extension LivenessMonitor.Part {
    /// Of an event loop no more than a third of what the manager waits, or it would act on the beats alone.
    fileprivate func mostLateness(watchdog: Double?) -> Double? {
        guard let fatal, reason == .eventLoops, let watchdog else { return fatal }
        return max(min(fatal, watchdog / 3), 1)
    }

    /// An event loop: it answers when it turns.
    static func loops(of group: any EventLoopGroup) -> [Self] {
        group.makeIterator().enumerated().map { (index, loop) in
            Self(name: "event loop \(index + 1)", reason: .eventLoops, fatal: 15) { answer in
                loop.execute { answer(nil) }
            }
        }
    }

    /// A store: it answers on its own queue, after what is under way there.
    static func store(
        _ name: String,
        ask: @escaping @Sendable (@escaping @Sendable (String?) -> Void) -> Void
    ) -> Self {
        // The show needs no disk, and one that hangs does not come back with another process: only a store that is stuck
        // by itself is worth a restart.
        Self(name: name, reason: .store(name), fatal: 60, ask: ask)
    }

    /// The data folder and its disk, looked at on a queue of their own, for a disk may hang.
    static func folder(_ directory: DataDirectory, lock: DataDirectoryLock) -> [Self] {
        let queue = DispatchQueue(label: "footlight.folder", qos: .utility)
        return [
            Self(name: "data folder", reason: .dataFolder) { answer in
                queue.async { answer(lock.isInPlace ? nil : "it was deleted or replaced; restart the gateway") }
            },
            Self(name: "disk", reason: .disk) { answer in
                queue.async {
                    let free = directory.freeBytes ?? .max
                    let isShort = free < LivenessMonitor.leastFreeBytes
                    answer(isShort ? "only \(free >> 20) MiB are free" : nil)
                }
            },
        ]
    }

    /// Mixers that die or hang again and again.
    static func mixers(_ supervisor: MixerSupervisor) -> Self {
        Self(name: "mixers", reason: .mixers) { answer in
            let rooms = supervisor.troubledRooms
            guard let first = rooms.first else { return answer(nil) }
            let others = rooms.count == 1 ? "" : " and of \(rooms.count - 1) more"
            answer("the mixer of room \(first)\(others) fails again and again")
        }
    }
}

extension DataDirectory {
    /// What is left for this process on the folder's disk; nil where the system does not say.
    fileprivate var freeBytes: UInt64? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        let (bytes, isMore) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isMore ? .max : bytes
    }
}
