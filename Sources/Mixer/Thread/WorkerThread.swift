import Dispatch
import Foundation
import Synchronization

/// One named thread of ours that can be joined.
///
/// Codecs block for milliseconds, so they run neither on the shared pool nor on an event loop.
final class WorkerThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private let isJoined = Mutex(false)

    /// Starts a thread that runs `body` once; `name` is what `top -H` shows, cut to 15 bytes there.
    init(name: String, body: @escaping @Sendable () -> Void) {
        let finished = finished
        let thread = Thread {
            // A name given before the start is not passed on to the kernel.
            Thread.current.name = name
            body()
            finished.signal()
        }
        // Decoders and x264 keep large tables on the stack.
        thread.stackSize = 2 << 20
        thread.start()
    }

    /// Waits until the body has returned; more than one caller may wait.
    func join() {
        isJoined.withLock { joined in
            guard !joined else { return }
            finished.wait()
            joined = true
        }
    }
}
