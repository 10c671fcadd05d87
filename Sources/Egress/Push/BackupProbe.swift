import Media
import Stage

/// Probes an output's backup address periodically on its own thread, so that faults are known before it is needed.
///
/// A probe resolves the name, checks the addresses, connects, and runs TLS, the RTMP handshake and `connect`, which
/// names the application. It never publishes: some targets would end one of two streams with the same key, and others
/// would receive twice the bandwidth. A key that only the backup refuses is therefore found when the backup is used.
struct BackupProbe {
    let core: PushCore
    let address: PushAddress

    /// The thread's body; returns when the push was stopped.
    func run() {
        let dialler = TargetConnector(
            policy: core.policy,
            configuration: core.configuration,
            wake: core.spareWake,
            isStopped: { [core] in core.isStopping }
        )
        while !core.isStopping {
            switch core.backupStep(now: .now()) {
            case .probe:
                let error = probe(with: dialler)
                guard !core.isStopping else { break }
                core.backupProbed(error, now: .now(), chance: Double.random(in: 0...1))
            case .wait(let until):
                let remaining = until.seconds(since: .now())
                guard remaining > 0 else { continue }
                let milliseconds = Int32(clamping: Int(remaining * 1000) + 1)
                if core.spareWake.wait(milliseconds: milliseconds).isWoken { core.spareWake.clear() }
            case .end:
                return
            }
        }
    }

    /// Makes one probe; returns the error that a stream would meet.
    private func probe(with dialler: TargetConnector) -> PushError? {
        do throws(PushError) {
            let deadline = MonotonicTime.now().advanced(seconds: core.configuration.connectDeadline)
            let socket = try dialler.dial(address, by: deadline)
            let connection = try LibRTMPSession(socket: socket, address: address, configuration: core.configuration)
            core.watchSpare(connection.socketGuard)
            defer {
                core.watchSpare(nil)
                connection.close()
            }
            try connection.greet(address: address, deadline: deadline) { core.isStopping }
            return nil
        } catch {
            return error
        }
    }
}

/// The known state of an output's backup address, and when to probe it again; without I/O.
///
/// A probe connects but never publishes: see `BackupProbe`.
struct BackupState: Sendable {
    /// The next step of the probe thread.
    enum Step: Sendable, Equatable {
        case probe
        case wait(until: MonotonicTime)
        case end
    }

    /// Why the backup is unusable; nil when it is usable or was never probed.
    private(set) var fault: OutputFault?
    private let configuration: PushConfiguration
    private var nextAt: MonotonicTime?

    init(configuration: PushConfiguration) {
        self.configuration = configuration
    }

    /// - Parameter isInUse: Whether the backup address is in use or being tried, which makes a probe unnecessary.
    mutating func step(now: MonotonicTime, isInUse: Bool) -> Step {
        if let nextAt, now < nextAt { return .wait(until: nextAt) }
        guard isInUse else { return .probe }
        let next = now.advanced(seconds: configuration.spareInterval)
        nextAt = next
        return .wait(until: next)
    }

    /// Records the result of a probe.
    ///
    /// - Parameters:
    ///   - error: nil when the probe succeeded.
    ///   - chance: A random number from 0 to 1, for the jitter.
    mutating func looked(_ error: PushError?, now: MonotonicTime, chance: Double) {
        // A local shortage says nothing about the backup.
        if error?.code != .local {
            fault = error.map { OutputFault(FaultClassifier.code(of: $0), $0.message, retry: .soon) }
        }
        let delay = error == nil ? configuration.spareInterval : configuration.slowRetry
        nextAt = now.advanced(seconds: configuration.backoff.spread(delay, chance: chance))
    }

    /// Records that the backup has accepted the stream.
    mutating func proved() {
        fault = nil
    }
}
