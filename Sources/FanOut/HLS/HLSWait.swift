import NIOCore

/// One request that waits for media, on the event loop of its connection.
///
/// It holds no thread and no task: it is an entry of its program's waiting line, and what is to be done afterwards.
final class HLSWait {
    /// How a wait ended.
    enum End {
        /// What it waited for is there, or the program ended and it will never be.
        case arrived
        case timedOut
    }

    let target: HLSWaitTarget
    let deadline: NIODeadline
    fileprivate(set) weak var line: HLSWaitingLine?
    private var finish: ((End) -> Void)?

    init(for target: HLSWaitTarget, until deadline: NIODeadline, finish: @escaping (End) -> Void) {
        self.target = target
        self.deadline = deadline
        self.finish = finish
    }

    /// Ends as if its time were over.
    func giveUp() {
        line?.remove(self)
        end(.timedOut)
    }

    /// The connection is gone: nothing is to be done any more.
    func cancel() {
        finish = nil
        line?.remove(self)
    }

    fileprivate func end(_ end: End) {
        let finish = finish
        self.finish = nil
        finish?(end)
    }
}

/// All requests of one event loop that wait for one program; everything here happens on that loop.
final class HLSWaitingLine {
    /// Answers of one turn of the loop; the media of other viewers comes between one turn and the next.
    private static let answersPerTurn = 128
    /// How often deadlines are looked at.
    private static let sweep = TimeAmount.milliseconds(500)

    private let loop: any EventLoop
    private let isReady: (HLSWaitTarget) -> Bool
    /// By what they wait for: the crowd waits for the same.
    private var waits: [HLSWaitTarget: [ObjectIdentifier: HLSWait]] = [:]
    private var sweeping: Scheduled<Void>?

    /// - Parameter isReady: Whether what is waited for is there.
    init(loop: any EventLoop, isReady: @escaping (HLSWaitTarget) -> Bool) {
        self.loop = loop
        self.isReady = isReady
    }

    /// Requests that wait.
    var count: Int { waits.values.reduce(0) { $0 + $1.count } }

    func add(_ wait: HLSWait) {
        wait.line = self
        waits[wait.target, default: [:]][ObjectIdentifier(wait)] = wait
        if sweeping == nil { scheduleSweep() }
    }

    fileprivate func remove(_ wait: HLSWait) {
        waits[wait.target]?[ObjectIdentifier(wait)] = nil
        if waits[wait.target]?.isEmpty == true { waits[wait.target] = nil }
    }

    /// More media is there: answers those who waited for it.
    func release() {
        var released: [HLSWait] = []
        for target in waits.keys where isReady(target) {
            released += waits.removeValue(forKey: target)?.values ?? [:].values
        }
        end(released[...], with: .arrived)
    }

    private func end(_ released: ArraySlice<HLSWait>, with end: HLSWait.End) {
        guard !released.isEmpty else { return }
        for wait in released.prefix(Self.answersPerTurn) { wait.end(end) }
        let rest = NIOLoopBound((self, released.dropFirst(Self.answersPerTurn)), eventLoop: loop)
        guard !rest.value.1.isEmpty else { return }
        loop.execute {
            let (line, released) = rest.value
            line.end(released, with: end)
        }
    }

    private func scheduleSweep() {
        let line = NIOLoopBound(self, eventLoop: loop)
        sweeping = loop.scheduleTask(in: Self.sweep) { line.value.endOverdue() }
    }

    private func endOverdue() {
        let now = loop.now
        let overdue = waits.values.flatMap { $0.values.filter { $0.deadline <= now } }
        for wait in overdue { remove(wait) }
        end(overdue[...], with: .timedOut)
        sweeping = nil
        if !waits.isEmpty { scheduleSweep() }
    }
}
