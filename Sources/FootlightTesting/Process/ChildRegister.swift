import Glibc
import Synchronization

/// The children alive, so that the exit of this process ends those whose owner never did.
final class ChildRegister: Sendable {
    static let shared = ChildRegister()

    private let marks = Mutex<[Int32: String]>([:])

    private init() {
        atexit { ChildRegister.shared.endAll() }
    }

    func add(pid: Int32, mark: String) {
        marks.withLock { $0[pid] = mark }
    }

    func remove(pid: Int32) {
        _ = marks.withLock { $0.removeValue(forKey: pid) }
    }

    private func endAll() {
        let left = marks.withLock { $0 }
        for (pid, mark) in left {
            kill(-pid, SIGKILL)
            for other in RunningProcess.carrying(mark) { kill(other, SIGKILL) }
        }
    }
}
