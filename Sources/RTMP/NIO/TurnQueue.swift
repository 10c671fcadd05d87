import NIOCore
import NIOPosix

/// Lets the peers of one event loop that sent more than one turn handles go on, one peer in each later turn.
///
/// An event loop runs a task that it is given by a task before it looks at its sockets again: peers that went on by
/// themselves would keep the loop to themselves. So all of a loop share one task, which comes back a moment later.
///
/// `@unchecked Sendable`: a queue belongs to the thread of its event loop, and nothing else gets hold of it.
final class TurnQueue: @unchecked Sendable {
    /// From one peer's turn to the next.
    private static let pause = TimeAmount.microseconds(500)
    private static let ofThread = ThreadSpecificVariable<TurnQueue>()

    private let eventLoop: any EventLoop
    private var waiting = CircularBuffer<RTMPServerHandler>()
    private var isScheduled = false

    private init(_ eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
    }

    /// The queue of an event loop; called on it.
    static func current(of eventLoop: any EventLoop) -> TurnQueue {
        if let queue = ofThread.currentValue, queue.eventLoop === eventLoop { return queue }
        let queue = TurnQueue(eventLoop)
        ofThread.currentValue = queue
        return queue
    }

    /// How many wait.
    var count: Int { waiting.count }

    /// Calls the handler's `takeTurn` once, behind those that wait already.
    func append(_ handler: RTMPServerHandler) {
        waiting.append(handler)
        schedule()
    }

    private func schedule() {
        guard !isScheduled, !waiting.isEmpty else { return }
        isScheduled = true
        eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isScheduled = false
            self.waiting.popFirst()?.takeTurn()
            self.schedule()
        }
    }
}
