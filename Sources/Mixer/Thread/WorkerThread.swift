import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One named thread of ours that can be joined.
///
/// Codecs block for milliseconds, so they run neither on the shared pool nor on an event loop.
final class WorkerThread: Sendable {
    private let finished = DispatchSemaphore(value: 0)
    private let isJoined = Mutex(false)

    /// Starts a thread that runs `body` once; `name` is what `top -H` shows, cut to 15 bytes there.
    init(name: String, body: @escaping @Sendable () -> Void) {
        let start = ThreadStart(name: name, finished: finished, body: body)
        let argument = Unmanaged.passRetained(start).toOpaque()
        #if canImport(Glibc)
        var thread = pthread_t()
        #else
        var thread: pthread_t?
        #endif
        guard pthread_create(&thread, nil, runWorkerThread, argument) == 0 else {
            // No thread could be had: the body will never run, so nobody may wait for it.
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

    /// Waits until the body has returned; more than one caller may wait.
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

/// The library call that names a thread, an extension which Swift does not import; a confined process cannot write to the
/// kernel's file that does the same.
private let setThreadName = dlsym(nil, "pthread_setname_np").map { unsafeBitCast($0, to: SetThreadName.self) }
#endif

/// What a new thread is given.
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
        takeName()
        body()
        finished.signal()
    }

    private func takeName() {
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
