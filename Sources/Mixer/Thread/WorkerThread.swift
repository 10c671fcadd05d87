import Dispatch
internal import Media
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A named thread that can be joined.
///
/// Codecs block for milliseconds, so they run neither on the cooperative pool nor on an event loop.
final class WorkerThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private let isJoined = Mutex(false)

    /// Starts a thread that runs `body` once; `name` is what `top -H` shows, truncated to 15 bytes.
    init(name: String, body: @escaping @Sendable () -> Void) {
        let start = ThreadStart(name: name, finished: finished, body: body)
        let argument = Unmanaged.passRetained(start).toOpaque()
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        guard pthread_create(&thread, nil, runWorkerThread, argument) == 0 else {
            // The thread could not be created: the body will never run, so `join` must not wait.
            Unmanaged<ThreadStart>.fromOpaque(argument).release()
            finished.signal()
            return
        }
        #if canImport(Glibc)
        pthread_detach(thread)
        #else
        if let thread { pthread_detach(thread) }
        #endif
    }

    /// Waits until the body has returned; several callers may wait.
    func join() {
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
        applyName()
        body()
        finished.signal()
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

/// Sleeps until a point in time, and reads the processor time of the calling thread.
enum MonotonicSleep {
    /// Sleeps until `moment` on CLOCK_MONOTONIC; returns at once when it has passed.
    ///
    /// A signal does not end it early.
    static func until(_ moment: MonotonicTime) {
        #if canImport(Glibc)
        var time = timespec(
            tv_sec: Int(moment.nanoseconds / 1_000_000_000),
            tv_nsec: Int(moment.nanoseconds % 1_000_000_000)
        )
        while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
        #else
        let remaining = moment.nanoseconds - MonotonicTime.now().nanoseconds
        guard remaining > 0 else { return }
        var time = timespec(tv_sec: Int(remaining / 1_000_000_000), tv_nsec: Int(remaining % 1_000_000_000))
        nanosleep(&time, nil)
        #endif
    }

    /// Processor seconds the calling thread has used so far.
    static func threadSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
