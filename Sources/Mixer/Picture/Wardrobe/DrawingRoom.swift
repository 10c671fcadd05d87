import Dispatch
import Synchronization

/// Where a program's pieces are drawn: a thread that sleeps until it is called.
final class DrawingRoom: Sendable {
    let wardrobe: Wardrobe
    private let bell = DispatchSemaphore(value: 0)
    private let isClosed = Atomic(false)

    init(_ wardrobe: Wardrobe) {
        self.wardrobe = wardrobe
    }

    /// There is something to draw; any thread.
    func call() {
        bell.signal()
    }

    /// Lets `run` return after the piece at hand.
    func close() {
        isClosed.store(true, ordering: .releasing)
        bell.signal()
    }

    /// The room's thread: draws what is wanted until the room is closed.
    func run() {
        while !isClosed.load(ordering: .acquiring) {
            if !wardrobe.drawNext() { bell.wait() }
        }
    }
}
