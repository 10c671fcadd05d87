import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A named thread for work that blocks, which must run neither on an event loop nor in a Swift task.
///
/// All signals but those of a fault of the thread itself are blocked on it, so that signals for the process do not
/// interrupt its system calls, and a closed socket or a file size limit is an error of the call.
public final class WorkerThread: Sendable {
    /// The size of a stack in bytes that suffices for system calls and librtmp, but not for codecs.
    public static let smallStack = 512 << 10

    /// Whether the system could start the thread; if not, the body never runs, and `join` returns at once.
    public let hasStarted: Bool
    private let finished = DispatchSemaphore(value: 0)
    private let isJoined = Mutex(false)

    /// Starts a thread that runs `body` once; it keeps running when this object is released.
    ///
    /// - Parameters:
    ///   - name: The name that `top -H` shows, truncated to 15 bytes.
    ///   - stackSize: The size of the stack in bytes; nil for the system's default.
    public init(name: String, stackSize: Int? = nil, body: @escaping @Sendable () -> Void) {
        let start = ThreadStart(name: name, finished: finished, body: body)
        let argument = Unmanaged.passRetained(start).toOpaque()
        let attributes = UnsafeMutablePointer<pthread_attr_t>.allocate(capacity: 1)
        pthread_attr_init(attributes)
        defer {
            pthread_attr_destroy(attributes)
            attributes.deallocate()
        }
        pthread_attr_setdetachstate(attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackSize { pthread_attr_setstacksize(attributes, stackSize) }
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        hasStarted = pthread_create(&thread, attributes, runWorkerThread, argument) == 0
        guard !hasStarted else { return }
        Unmanaged<ThreadStart>.fromOpaque(argument).release()
        finished.signal()
    }

    /// Waits until the body has returned; several callers may wait.
    public func join() {
        isJoined.withLock { joined in
            guard !joined else { return }
            finished.wait()
            joined = true
        }
    }
}

#if canImport(Glibc)
private typealias SetThreadName = @convention(c) (pthread_t, UnsafePointer<CChar>) -> Int32

/// The extension call that names a thread, which Swift does not import; a sandboxed process cannot write the `/proc`
/// file that does the same.
private let setThreadName = dlsym(nil, "pthread_setname_np").map { unsafeBitCast($0, to: SetThreadName.self) }
#endif

/// The arguments of a new thread.
private final class ThreadStart: Sendable {
    private let name: String
    private let finished: DispatchSemaphore
    private let body: @Sendable () -> Void

    init(name: String, finished: DispatchSemaphore, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.finished = finished
        self.body = body
    }

    func run() {
        blockSignals()
        applyName()
        body()
        finished.signal()
    }

    private func blockSignals() {
        let signals = UnsafeMutablePointer<sigset_t>.allocate(capacity: 1)
        defer { signals.deallocate() }
        sigfillset(signals)
        // SIGSYS is how the mixer's seccomp filter passes connections on; the others are faults, which write a trace.
        for signal in [SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP] { sigdelset(signals, signal) }
        // Not added to the mask of the creating thread, which may block faults.
        pthread_sigmask(SIG_SETMASK, signals, nil)
    }

    private func applyName() {
        #if canImport(Glibc)
        _ = setThreadName?(pthread_self(), String(decoding: name.utf8.prefix(15), as: UTF8.self))
        #else
        pthread_setname_np(name)
        #endif
    }
}

#if canImport(Glibc)
private nonisolated func runWorkerThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
#else
private nonisolated func runWorkerThread(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
    Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
#endif
