import Glibc
import Synchronization

/// A shell process that outlives this process and kills the registered process groups.
///
/// Children lead their own process groups, so neither Ctrl-C nor a crash of a test run reaches them. The shell reads
/// from a socket that the system closes when this process ends.
struct ChildReaper: ~Copyable {
    /// Registers groups by `+ N`, unregisters them by `- N`, and kills the remaining ones at the end of the input.
    private static let script = """
        groups=" "
        while read -r change group; do
            case $change in
            +) groups="$groups$group " ;;
            -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
            esac
        done
        for group in $groups; do kill -s KILL -- "-$group"; done
        """

    let pid: Int32
    private let socket: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw ToolFailure("no socket for the guard of child processes", log: String(cString: strerror(errno)))
        }
        defer { close(ends[1]) }
        do {
            pid = try ChildProcess.spawn(
                ["sh", "-c", ChildReaper.script],
                environment: ["PATH=/usr/bin:/bin"],
                input: ends[1],
                output: "/dev/null",
                error: "/dev/null"
            )
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
    }

    deinit {
        close(socket)
        var status: Int32 = 0
        waitpid(pid, &status, 0)
    }

    /// Registers a group to be killed when this process ends.
    func add(_ group: Int32) { write("+ \(group)\n") }

    /// Unregisters a group.
    func remove(_ group: Int32) { write("- \(group)\n") }

    private func write(_ line: String) {
        // MSG_NOSIGNAL prevents SIGPIPE if the shell was killed.
        _ = line.withCString { send(socket, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }
}

/// The running children, which are killed when this process exits.
final class ChildProcessRegistry: Sendable {
    private struct State: ~Copyable {
        var marks: [Int32: String] = [:]
        var reaper: ChildReaper?
    }

    static let shared = ChildProcessRegistry()

    private let state = Mutex(State())

    private init() {
        atexit { ChildProcessRegistry.shared.endAll() }
    }

    func add(pid: Int32, mark: String) throws {
        try state.withLock { state in
            if state.reaper == nil { state.reaper = try ChildReaper() }
            state.reaper?.add(pid)
            state.marks[pid] = mark
        }
    }

    func remove(pid: Int32) {
        state.withLock { state in
            state.reaper?.remove(pid)
            state.marks.removeValue(forKey: pid)
        }
    }

    /// Kills all groups, and the descendants that left them.
    private func endAll() {
        for (pid, mark) in state.withLock({ $0.marks }) {
            kill(-pid, SIGKILL)
            for other in RunningProcess.carrying(mark) { kill(other, SIGKILL) }
        }
    }
}
