import Media
import Stage

/// One room's livestream: its pushes and their common state.
struct RoomLivestream: Sendable {
    var progress: LivestreamProgress
    /// In the order they were added.
    private(set) var pushes: [RTMPPush] = []
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
            outputs: pushes.map { $0.status },
            endReason: progress.endReason
        )
    }

    func contains(_ name: String) -> Bool {
        pushes.contains { $0.status.name == name }
    }

    mutating func add(_ push: RTMPPush) {
        pushes.append(push)
    }

    mutating func remove(_ name: String) -> RTMPPush? {
        guard let index = pushes.firstIndex(where: { $0.status.name == name }) else { return nil }
        let push = pushes.remove(at: index)
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
        if pushes.allSatisfy({ $0.waitUntilEnded(deadline: now) }) { progress.ended() }
    }

    /// The status to tell, when its state, an output's state or an output's error differs from what was told last.
    mutating func news() -> LivestreamStatus? {
        let status = status
        defer { announced = status }
        guard let announced else { return status }
        let isSame =
            announced.state == status.state
            && announced.outputs.elementsEqual(status.outputs) {
                $0.name == $1.name && $0.state == $1.state && $0.lastError == $1.lastError
            }
        return isSame ? nil : status
    }
}
