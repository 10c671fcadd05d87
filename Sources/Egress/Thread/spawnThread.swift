internal import CRTMP
import Glibc

/// Runs `body` on a thread of its own that nobody joins.
///
/// All signals are blocked on it, so that its system calls are not cut short by signals meant for the process.
///
/// - Parameter name: Shown by `top -H`; the kernel keeps 15 bytes.
/// - Returns: False when the system has no thread to give; `body` then never runs.
func spawnThread(named name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let context = Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    defer { pthread_attr_destroy(&attributes) }

    var thread = pthread_t()
    guard pthread_create(&thread, &attributes, runThread, context.toOpaque()) == 0 else {
        context.release()
        return false
    }
    return true
}

private final class ThreadStart: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

/// The C entry point, called on the new thread; takes over the reference made by `spawnThread`.
private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    var signals = sigset_t()
    sigfillset(&signals)
    // By this one a confined process has its connections made.
    sigdelset(&signals, SIGSYS)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    c_thread_name(String(decoding: start.name.utf8.prefix(15), as: UTF8.self))
    start.body()
    return nil
}
