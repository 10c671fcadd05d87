import Glibc

/// A small shell beside this process that outlives it and kills the process groups it was told of.
///
/// Children lead groups of their own, so neither Ctrl-C nor a crash of a test run reaches them. The shell waits on a
/// socket that the system closes with this process, however this process ends.
struct ChildGuard: ~Copyable {
    /// Keeps the group numbers told by `+ N` and not taken back by `- N`, and kills them at the end of the input.
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
                ["sh", "-c", ChildGuard.script],
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

    /// Kills the group when this process ends.
    func add(_ group: Int32) { tell("+ \(group)\n") }

    /// Leaves the group alone from now on.
    func remove(_ group: Int32) { tell("- \(group)\n") }

    private func tell(_ line: String) {
        // A guard that was killed has nothing to say; without the flag its end would be ours.
        _ = line.withCString { send(socket, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
    }
}
