import Glibc
import Media
import Synchronization
import Testing

@Suite("Worker threads")
struct WorkerThreadTests {
    private func isBlocked(_ signal: Int32) -> Bool {
        let signals = UnsafeMutablePointer<sigset_t>.allocate(capacity: 1)
        defer { signals.deallocate() }
        pthread_sigmask(SIG_BLOCK, nil, signals)
        return sigismember(signals, signal) == 1
    }

    @Test("several callers of join return after the body has returned")
    func join() {
        let steps = Mutex<[String]>([])
        let thread = WorkerThread(name: "body") {
            usleep(50_000)
            steps.withLock { $0.append("body") }
        }
        #expect(thread.hasStarted)
        let callers = (0..<2).map { _ in
            WorkerThread(name: "caller") {
                thread.join()
                steps.withLock { $0.append("joined") }
            }
        }
        for caller in callers { caller.join() }
        #expect(steps.withLock { $0 } == ["body", "joined", "joined"])
    }

    @Test("the thread has the first 15 bytes of its name")
    func name() {
        let name = Mutex("")
        WorkerThread(name: "a name of more than 15 bytes") {
            guard let file = fopen("/proc/thread-self/comm", "r") else { return }
            defer { fclose(file) }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = fread(&bytes, 1, bytes.count, file)
            name.withLock { $0 = String(decoding: bytes.prefix(count), as: UTF8.self) }
        }.join()
        #expect(name.withLock { $0 } == "a name of more \n")
    }

    @Test("signals for the process are blocked on the thread, those of its own faults are not")
    func signals() {
        let blocked = Mutex<[Int32]>([])
        WorkerThread(name: "signals", stackSize: WorkerThread.smallStack) {
            let signals = [SIGPIPE, SIGXFSZ, SIGTERM, SIGUSR2, SIGSYS, SIGSEGV, SIGABRT]
            blocked.withLock { $0 = signals.filter { isBlocked($0) } }
        }.join()
        #expect(blocked.withLock { $0 } == [SIGPIPE, SIGXFSZ, SIGTERM, SIGUSR2])
    }
}
