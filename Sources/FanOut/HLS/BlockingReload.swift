import HLS
import NIOCore
import Synchronization

/// One request that waits for media, on the event loop of its connection.
///
/// A waiting request uses no thread and no task: it is an entry of its program's queue with a completion handler.
final class BlockingReload {
    /// How a wait ended.
    enum End {
        /// The media arrived, or the program ended.
        case arrived
        case timedOut
    }

    let target: BlockingReloadTarget
    let deadline: NIODeadline
    fileprivate(set) weak var queue: BlockingReloadQueue?
    private var finish: ((End) -> Void)?

    init(for target: BlockingReloadTarget, until deadline: NIODeadline, finish: @escaping (End) -> Void) {
        self.target = target
        self.deadline = deadline
        self.finish = finish
    }

    /// Ends the wait as timed out.
    func giveUp() {
        queue?.remove(self)
        end(.timedOut)
    }

    /// Cancels the wait of a closed connection.
    func cancel() {
        finish = nil
        queue?.remove(self)
    }

    fileprivate func end(_ end: End) {
        let finish = finish
        self.finish = nil
        finish?(end)
    }
}

/// The requests of one event loop that wait for one program; all calls are on that loop.
final class BlockingReloadQueue {
    /// The maximum number of responses per turn of the loop, so that other viewers' media is sent in between.
    private static let answersPerTurn = 128
    /// The interval at which deadlines are checked.
    private static let sweep = TimeAmount.milliseconds(500)

    private let loop: any EventLoop
    private let isReady: (BlockingReloadTarget) -> Bool
    /// The waiting requests by target; most wait for the same one.
    private var waits: [BlockingReloadTarget: [ObjectIdentifier: BlockingReload]] = [:]
    private var sweeping: Scheduled<Void>?

    /// - Parameter isReady: Whether a target has been reached.
    init(loop: any EventLoop, isReady: @escaping (BlockingReloadTarget) -> Bool) {
        self.loop = loop
        self.isReady = isReady
    }

    /// The number of waiting requests.
    var count: Int { waits.values.reduce(0) { $0 + $1.count } }

    func add(_ wait: BlockingReload) {
        loop.assertInEventLoop()
        wait.queue = self
        waits[wait.target, default: [:]][ObjectIdentifier(wait)] = wait
        if sweeping == nil { scheduleSweep() }
    }

    fileprivate func remove(_ wait: BlockingReload) {
        loop.assertInEventLoop()
        waits[wait.target]?[ObjectIdentifier(wait)] = nil
        if waits[wait.target]?.isEmpty == true { waits[wait.target] = nil }
    }

    /// Ends the waits whose targets have been reached.
    func release() {
        loop.assertInEventLoop()
        var released: [BlockingReload] = []
        for target in waits.keys where isReady(target) {
            released += waits.removeValue(forKey: target)?.values ?? [:].values
        }
        end(released[...], with: .arrived)
    }

    private func end(_ released: ArraySlice<BlockingReload>, with end: BlockingReload.End) {
        guard !released.isEmpty else { return }
        for wait in released.prefix(Self.answersPerTurn) { wait.end(end) }
        let rest = NIOLoopBound((self, released.dropFirst(Self.answersPerTurn)), eventLoop: loop)
        guard !rest.value.1.isEmpty else { return }
        loop.execute {
            let (queue, released) = rest.value
            queue.end(released, with: end)
        }
    }

    private func scheduleSweep() {
        let queue = NIOLoopBound(self, eventLoop: loop)
        sweeping = loop.scheduleTask(in: Self.sweep) { queue.value.endOverdue() }
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

/// The media for which a request waits.
enum BlockingReloadTarget: Hashable {
    /// The first segment.
    case beginning
    /// A media playlist that satisfies the delivery directives.
    case playlist(DeliveryDirectives)
    /// The part announced by a preload hint.
    case part(PartPosition)
}

/// Limits the requests that wait for media, in total and per session.
///
/// A player waits for the playlist that it plays and, while it switches renditions, for a second one.
final class WaitingRequestLimiter: Sendable {
    private struct State {
        var total = 0
        var bySession: [String: Int] = [:]
        var refused: UInt64 = 0
    }

    /// The limit that a request exceeds.
    enum Refusal: Equatable {
        /// The session has too many waiting requests.
        case session
        /// Too many requests wait in total.
        case total
    }

    let limit: (perSession: Int, total: Int)
    private let state = Mutex(State())

    init(_ limit: (perSession: Int, total: Int)) {
        self.limit = limit
    }

    /// The number of waiting requests.
    var count: Int { state.withLock(\.total) }

    /// The number of refused requests.
    var refused: UInt64 { state.withLock(\.refused) }

    /// Counts one more waiting request; returns the exceeded limit, or nil if it may wait.
    ///
    /// - Parameter session: The session of the request; nil if unknown.
    func acquire(_ session: String?) -> Refusal? {
        state.withLock { state in
            guard state.total < limit.total else {
                state.refused += 1
                return .total
            }
            if let session {
                let waiting = state.bySession[session, default: 0]
                guard waiting < limit.perSession else {
                    state.refused += 1
                    return .session
                }
                state.bySession[session] = waiting + 1
            }
            state.total += 1
            return nil
        }
    }

    /// Counts a request that no longer waits.
    func release(_ session: String?) {
        state.withLock { state in
            state.total -= 1
            guard let session, let waiting = state.bySession[session] else { return }
            state.bySession[session] = waiting > 1 ? waiting - 1 : nil
        }
    }
}
