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

/// Probes every component of the gateway once per second, and reports to `/readyz` and to the service manager.
///
/// A component that does not answer for three seconds makes the gateway unready. The watchdog of the service manager is
/// notified only while no event loop and no store is late beyond its limit, so that a blocked gateway is restarted.
final class LivenessMonitor: Service {
    /// A component that can fail by itself.
    struct Part: Sendable {
        let name: String
        let reason: Health.Reason
        /// Seconds without an answer after which the process should be restarted; nil if a restart would not help.
        var fatal: Double?
        /// Probes the component; calls `answer` from any thread with a problem, or with nil for none.
        let probe: @Sendable (_ answer: @escaping @Sendable (_ problem: String?) -> Void) -> Void
    }

    /// Seconds after which a missing answer makes the gateway unready.
    static let answerTimeout = 3.0
    /// The free disk space of the data folder in bytes below which the gateway is unready.
    static let minimumFreeBytes: UInt64 = 64 << 20
    private static let period = 1.0

    private struct State {
        var probes = ProbeTable()
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
                self.check(now: .now())
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.period), tolerance: .milliseconds(200))
            }
        }
        manager?.stopping()
    }

    /// Evaluates the answers since the last check, notifies the watchdog if no component is late, and probes again.
    func check(now: MonotonicTime) {
        let (problems, isAlive) = judge(now: now)
        for (reason, found) in problems { health.set(reason, found.isEmpty ? nil : found.joined(separator: "; ")) }
        notifyManager(isAlive: isAlive)
        for index in state.withLock({ $0.probes.start(parts.indices, now: now) }) {
            parts[index].probe { [weak self] problem in
                self?.state.withLock { state in
                    state.probes.answered(index)
                    state.problems[index] = problem
                }
            }
        }
    }

    /// Returns the problems by reason, empty for a cleared reason, and whether the process should continue.
    private func judge(now: MonotonicTime) -> (problems: [Health.Reason: [String]], isAlive: Bool) {
        state.withLock { state in
            state.probes.beginCheck(now: now)
            var problems: [Health.Reason: [String]] = [:]
            var isAlive = true
            for (index, part) in parts.enumerated() {
                problems[part.reason, default: []] += []
                let late = state.probes.lateness(of: index, now: now)
                if late >= Self.answerTimeout {
                    problems[part.reason, default: []].append("\(part.name) has not answered for \(Int(late)) s")
                } else if let problem = state.problems[index] {
                    problems[part.reason, default: []].append("\(part.name): \(problem)")
                }
                if let fatal = part.fatalLateness(watchdog: manager?.watchdogSeconds), late >= fatal { isAlive = false }
            }
            return (problems, isAlive)
        }
    }

    private func notifyManager(isAlive: Bool) {
        guard let manager else { return }
        if isAlive { manager.notifyWatchdog() }
        let reasons = health.readiness.reasons
        let status = reasons.isEmpty ? "ready" : reasons.map { "\($0.name): \($0.problem)" }.joined(separator: "; ")
        let isChanged = state.withLock { state in
            defer { state.status = status }
            return state.status != status
        }
        if isChanged { manager.status(status) }
    }
}

extension LivenessMonitor.Part {
    /// For an event loop at most a third of the watchdog's timeout, so that its lateness alone triggers the watchdog.
    fileprivate func fatalLateness(watchdog: Double?) -> Double? {
        guard let fatal, reason == .eventLoops, let watchdog else { return fatal }
        return max(min(fatal, watchdog / 3), 1)
    }

    /// The event loops, which answer when they run the probe.
    static func loops(of group: any EventLoopGroup) -> [Self] {
        group.makeIterator().enumerated().map { (index, loop) in
            Self(name: "event loop \(index + 1)", reason: .eventLoops, fatal: 15) { answer in
                loop.execute { answer(nil) }
            }
        }
    }

    /// A store, which answers on its queue after the pending operations.
    static func store(
        _ name: String,
        probe: @escaping @Sendable (@escaping @Sendable (String?) -> Void) -> Void
    ) -> Self {
        // Broadcasts need no disk, and a restart does not help against a hanging one. Only a store that is blocked by
        // itself is worth a restart.
        Self(name: name, reason: .store(name), fatal: 60, probe: probe)
    }

    /// The data folder and its disk, checked on a queue of their own because a disk may hang.
    static func folder(_ directory: DataDirectory, lock: DataDirectoryLock) -> [Self] {
        let queue = DispatchQueue(label: "footlight.folder", qos: .utility)
        return [
            Self(name: "data folder", reason: .dataFolder) { answer in
                queue.async { answer(lock.isInPlace ? nil : "it was deleted or replaced; restart the gateway") }
            },
            Self(name: "disk", reason: .disk) { answer in
                queue.async {
                    let free = DiskSpace.read(at: directory.path)?.space.free ?? .max
                    let isShort = free < LivenessMonitor.minimumFreeBytes
                    answer(isShort ? "only \(free >> 20) MiB are free" : nil)
                }
            },
        ]
    }

    /// The mixers that fail repeatedly.
    static func mixers(_ supervisor: MixerSupervisor) -> Self {
        Self(name: "mixers", reason: .mixers) { answer in
            let rooms = supervisor.failingRooms
            guard let first = rooms.first else { return answer(nil) }
            let others = rooms.count == 1 ? "" : " and of \(rooms.count - 1) more"
            answer("the mixer of room \(first)\(others) fails again and again")
        }
    }
}

/// The pending probes of the components, with their start times.
///
/// Time in which the process was suspended does not count.
struct ProbeTable {
    /// Seconds between two checks above which the process itself was suspended.
    private static let pause = 3.0

    private var startedAt: [Int: MonotonicTime] = [:]
    private var lastCheck: MonotonicTime?

    /// Begins a check of all components.
    mutating func beginCheck(now: MonotonicTime) {
        if let lastCheck, now.seconds(since: lastCheck) > Self.pause {
            let pause = now.seconds(since: lastCheck)
            startedAt = startedAt.mapValues { $0.advanced(seconds: pause) }
        }
        lastCheck = now
    }

    /// Starts a probe of each component without a pending one.
    ///
    /// - Returns: Those components.
    mutating func start(_ parts: Range<Int>, now: MonotonicTime) -> [Int] {
        let idle = parts.filter { startedAt[$0] == nil }
        for part in idle { startedAt[part] = now }
        return idle
    }

    mutating func answered(_ part: Int) {
        startedAt[part] = nil
    }

    /// Returns the seconds for which an answer is pending; 0 if none is.
    func lateness(of part: Int, now: MonotonicTime) -> Double {
        startedAt[part].map { max(now.seconds(since: $0), 0) } ?? 0
    }
}
