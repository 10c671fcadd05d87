import Media
import Stage

/// The state a room's outputs make together; rules only.
///
///     starting ── first output connected ──▶ started ── stop ──▶ stopping ── all ended ──▶ stopped
///        └── none within the limit, or all refused ──▶ stopping      └── all failed ──▶ stopping
struct LivestreamProgress: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        case starting(since: MonotonicTime)
        case started
        case stopping
        case stopped
    }

    /// Why a livestream ends by itself.
    enum Fault: Sendable, Equatable {
        case neverStarted
        case lost
    }

    private(set) var phase: Phase
    /// Seconds since 1970.
    private(set) var startedAt: Double?
    /// Seconds until the first output must be connected.
    let startLimit: Double

    init(now: MonotonicTime, startLimit: Double) {
        phase = .starting(since: now)
        self.startLimit = startLimit
    }

    var state: LivestreamStatus.State {
        switch phase {
        case .starting: .starting
        case .started: .started
        case .stopping: .stopping
        case .stopped: .stopped
        }
    }

    var isRunning: Bool { state == .starting || state == .started }

    /// Looks at the outputs; a fault means that everything must be taken down.
    mutating func look(
        outputs: [OutputStatus.State],
        now: MonotonicTime,
        secondsSince1970: @autoclosure () -> Double
    ) -> Fault? {
        let allFailed = outputs.allSatisfy { $0 == .failed }
        switch phase {
        case .starting(let since):
            if outputs.contains(.connected) {
                phase = .started
                startedAt = secondsSince1970()
            } else if allFailed || now.seconds(since: since) >= startLimit {
                phase = .stopping
                return .neverStarted
            }
        case .started where allFailed:
            phase = .stopping
            return .lost
        case .started, .stopping, .stopped: break
        }
        return nil
    }

    mutating func stop() {
        phase = .stopping
    }

    /// Every output has let go.
    mutating func ended() {
        phase = .stopped
    }
}
