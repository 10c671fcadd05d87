import Media
import Stage

/// One room's livestream: its pushes and their common state.
struct RoomLivestream: Sendable {
    var progress: LivestreamProgress
    /// In the order they were added.
    private(set) var outputs: [LiveOutput] = []
    /// One for each feed that is pushed.
    private(set) var gauges: [String: StreamGauge] = [:]
    /// Taken down one by one while the livestream goes on; kept until their threads have ended.
    private var leaving: [RTMPPush] = []
    /// The room is gone; the livestream is forgotten once it has stopped.
    var isEnded = false
    /// What observers were last told.
    var announced: LivestreamStatus?
    /// Warnings that came about on a caller's thread.
    private var warnings: [LivestreamWarning] = []

    init(progress: LivestreamProgress) {
        self.progress = progress
    }

    var status: LivestreamStatus {
        LivestreamStatus(
            state: progress.state,
            startedAt: progress.startedAt,
            outputs: outputs.map { $0.push.status },
            endReason: progress.endReason,
            warnings: progress.isRunning ? outputs.flatMap(\.warnings) : []
        )
    }

    func contains(_ name: String) -> Bool {
        outputs.contains { $0.name == name }
    }

    /// Takes an output in; the gauge to attach to its feed, if that has none yet.
    mutating func add(_ output: LiveOutput) -> StreamGauge? {
        outputs.append(output)
        for warning in output.complianceWarnings { warn(warning) }
        guard gauges[output.feed] == nil else { return nil }
        let gauge = StreamGauge()
        gauges[output.feed] = gauge
        return gauge
    }

    /// Holds what was measured of the feeds against what the outputs' platforms ask for.
    mutating func lookAtFigures() {
        for index in outputs.indices {
            if let warning = outputs[index].lookAtPlace() { warn(warning) }
        }
        for (feed, gauge) in gauges {
            guard let figures = gauge.takeFigures() else { continue }
            for index in outputs.indices where outputs[index].feed == feed {
                if let warning = outputs[index].measured(figures) { warn(warning) }
            }
        }
    }

    mutating func remove(_ name: String) -> RTMPPush? {
        guard let index = outputs.firstIndex(where: { $0.name == name }) else { return nil }
        let push = outputs.remove(at: index).push
        leaving.append(push)
        return push
    }

    /// Keeps a warning for the thread that tells it; the same one is not kept twice.
    mutating func warn(_ warning: LivestreamWarning) {
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    mutating func takeWarnings() -> [LivestreamWarning] {
        defer { warnings = [] }
        return warnings
    }

    /// Lets go of pushes whose threads have ended; moves on from stopping when all have.
    mutating func settle(now: MonotonicTime) {
        leaving.removeAll { $0.waitUntilEnded(deadline: now) }
        guard progress.state == .stopping, leaving.isEmpty else { return }
        if outputs.allSatisfy({ $0.push.waitUntilEnded(deadline: now) }) { progress.ended() }
    }

    /// The status to tell, when its state, an output's state or an output's error differs from what was told last.
    mutating func news() -> LivestreamStatus? {
        let status = status
        defer { announced = status }
        guard let announced else { return status }
        let isSame =
            announced.state == status.state
            && announced.outputs.elementsEqual(status.outputs) {
                $0.name == $1.name && $0.state == $1.state && $0.lastFault == $1.lastFault
                    && $0.isOnSpare == $1.isOnSpare
            }
        return isSame ? nil : status
    }
}
