import Glibc
import Synchronization

/// The children alive, so that the end of this process ends those whose owner never did.
final class ChildRegister: Sendable {
    private struct State: ~Copyable {
        var marks: [Int32: String] = [:]
        var childGuard: ChildGuard?
    }

    static let shared = ChildRegister()

    private let state = Mutex(State())

    private init() {
        atexit { ChildRegister.shared.endAll() }
    }

    func add(pid: Int32, mark: String) throws {
        try state.withLock { state in
            if state.childGuard == nil { state.childGuard = try ChildGuard() }
            state.childGuard?.add(pid)
            state.marks[pid] = mark
        }
    }

    func remove(pid: Int32) {
        state.withLock { state in
            state.childGuard?.remove(pid)
            state.marks.removeValue(forKey: pid)
        }
    }

    /// The guard knows the groups alone; a child's children that left its group are found by their mark.
    private func endAll() {
        for (pid, mark) in state.withLock({ $0.marks }) {
            kill(-pid, SIGKILL)
            for other in RunningProcess.carrying(mark) { kill(other, SIGKILL) }
        }
    }
}
