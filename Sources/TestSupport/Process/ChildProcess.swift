import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// A program started by a test, which never outlives it.
///
/// The child leads its own process group. All its descendants inherit a marker in their environment, so that `end()`
/// finds those that left the group. `end()` runs in `deinit` and when this process exits.
public final class ChildProcess: Sendable {
    /// The way in which a program ended.
    public enum Exit: Sendable, Equatable {
        /// The program returned this status.
        case code(Int32)
        /// This signal killed the program.
        case signal(Int32)
    }

    private struct State {
        var exit: Exit?
        /// Whether the process group is gone, after which its ID may be reused.
        var isGroupGone = false
    }

    /// The process ID; `signal(_:)` never reaches a later process with the same ID.
    public let pid: Int32
    /// The file with the standard output.
    public let outputPath: String
    /// The file with the standard error.
    public let errorPath: String

    private let name: String
    private let mark: String
    private let folder: TemporaryFolder?
    private let state = Mutex(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, by path or by its name in PATH, and its arguments.
    ///   - environment: Variables in addition to those of this process; an empty value removes a variable.
    ///   - logFolder: The folder of `NAME.out` and `NAME.err`; a temporary folder if nil.
    /// - Throws: `ToolFailure` if the program cannot be started.
    public init(
        _ arguments: [String],
        environment: [String: String] = [:],
        logFolder: String? = nil,
        sockets: ListeningSockets? = nil
    ) throws {
        guard let program = arguments.first else { throw ToolFailure("no program to start") }
        name = String(program.split(separator: "/").last ?? "child")
        mark = "FOOTLIGHT_TEST_CHILD=" + UUID().uuidString
        folder = logFolder == nil ? try TemporaryFolder("child") : nil
        let logs = (logFolder ?? folder?.path ?? ".") + "/" + name
        outputPath = logs + ".out"
        errorPath = logs + ".err"
        var variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        variables = variables.filter { !$0.value.isEmpty }
        pid = try ChildProcess.spawn(
            arguments,
            environment: variables.map { $0.key + "=" + $0.value } + [mark],
            descriptors: sockets?.descriptors ?? [],
            output: outputPath,
            error: errorPath
        )
        try ChildProcessRegistry.shared.add(pid: pid, mark: mark)
    }

    deinit { end() }

    /// The exit of the program; nil while it runs.
    public var exit: Exit? {
        state.withLock { state in
            collect(&state, options: WNOHANG)
            return state.exit
        }
    }

    /// Whether the program is running.
    public var isRunning: Bool { exit == nil }

    /// Sends a signal to the program but not its group; has no effect once it has ended.
    public func signal(_ number: Int32) {
        state.withLock { state in
            collect(&state, options: WNOHANG)
            if state.exit == nil { kill(pid, number) }
        }
    }

    /// Waits for the program to end.
    ///
    /// - Returns: The exit, or nil if it still runs at the deadline.
    public func wait(_ deadline: Duration) async throws -> Exit? {
        _ = try await eventually(within: deadline, every: .milliseconds(10)) { self.exit != nil }
        return exit
    }

    /// Waits for the program to end with status 0.
    ///
    /// - Throws: `ToolFailure` with the standard error if it fails or exceeds the deadline; the program is then killed.
    public func waitForSuccess(_ deadline: Duration) async throws {
        let exit = try await wait(deadline)
        guard exit == .code(0) else {
            end()
            let outcome = exit.map { "ended with \($0)" } ?? "did not end within \(deadline)"
            throw ToolFailure("\(name) \(outcome)", log: standardError)
        }
    }

    /// Sends SIGTERM, waits, and kills the remaining processes.
    ///
    /// - Returns: The exit; nil if the program had to be killed.
    @discardableResult
    public func stop(within deadline: Duration = .seconds(5)) async throws -> Exit? {
        signal(SIGTERM)
        let exit = try await wait(deadline)
        end()
        return exit
    }

    /// Kills the program and all its descendants and reaps them.
    public func end() {
        state.withLock { state in
            if !state.isGroupGone { kill(-pid, SIGKILL) }
            // A process may fork while it is searched for and takes a moment to die, though not five seconds. A dying
            // process loses its environment, and with it the marker, before it is gone.
            var dying: Set<Int32> = []
            for _ in 0..<1000 {
                let others = RunningProcess.carrying(mark).filter { $0 != pid }
                for other in others { kill(other, SIGKILL) }
                dying = dying.union(others).filter(RunningProcess.isAlive)
                if others.isEmpty, dying.isEmpty { break }
                usleep(5000)
            }
            collect(&state, options: 0)
            if !state.isGroupGone {
                kill(-pid, SIGKILL)
                state.isGroupGone = true
            }
        }
        ChildProcessRegistry.shared.remove(pid: pid)
    }

    /// The text written to the standard output so far.
    public var standardOutput: String { ChildProcess.text(outputPath) }

    /// The text written to the standard error so far.
    public var standardError: String { ChildProcess.text(errorPath) }

    /// The live descendants of the program.
    public var descendants: [Int32] {
        // Only root can read the environment of a non-dumpable process, so the process tree is searched as well.
        let found = Set(RunningProcess.carrying(mark)).union(RunningProcess.descendants(of: pid))
        return found.subtracting([pid]).sorted()
    }

    private func collect(_ state: inout State, options: Int32) {
        guard state.exit == nil else { return }
        var status: Int32 = 0
        var result = waitpid(pid, &status, options)
        while result == -1, errno == EINTR { result = waitpid(pid, &status, options) }
        guard result == pid else { return }
        let signal = status & 0x7F
        state.exit = signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
        state.isGroupGone = kill(-pid, 0) != 0
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
    }
}

extension ChildProcess {
    /// Spawns a program in a new process group with default signal handling and, as its only descriptors, the three
    /// standard ones and from 3 on the passed ones.
    ///
    /// The input is empty unless `input` is an open descriptor.
    static func spawn(
        _ arguments: [String],
        environment: [String],
        input: Int32? = nil,
        descriptors: [Int32] = [],
        output: String,
        error: String
    ) throws -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let write = O_WRONLY | O_CREAT | O_APPEND
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, output, write, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, error, write, 0o600)
        for (index, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(3 + index))
        }
        // Descriptors of other tests must not leak into the child; closing one that is already closed is no error.
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        for descriptor in open.compactMap({ Int32($0) }) where descriptor >= 3 + descriptors.count {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var pid: pid_t = 0
        let program = arguments[0]
        let status = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                posix_spawnp(&pid, program, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else {
            throw ToolFailure("cannot start \(program)", log: String(cString: strerror(status)))
        }
        return pid
    }

    /// Runs a program to its end with status 0 and returns its standard output.
    ///
    /// - Throws: `ToolFailure` with the standard error if it fails or exceeds the deadline.
    @discardableResult
    public static func run(_ arguments: [String], within deadline: Duration = .seconds(60)) async throws -> String {
        let child = try ChildProcess(arguments)
        try await child.waitForSuccess(deadline)
        return child.standardOutput
    }

    private static func withCStrings<Result>(
        _ strings: [String],
        _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) }
        defer {
            for pointer in pointers { free(pointer) }
        }
        return body(pointers + [nil])
    }
}

/// A failure of an external tool in a test.
public struct ToolFailure: Error, CustomStringConvertible {
    /// A one-sentence description.
    public var what: String
    /// The last lines of the tool's output.
    public var log: String

    /// Creates a failure with the tool's output.
    public init(_ what: String, log: String = "") {
        self.what = what
        self.log = log.split(separator: "\n", omittingEmptySubsequences: false).suffix(40).joined(separator: "\n")
    }

    /// The description followed by the output.
    public var description: String { log.isEmpty ? what : what + "\n" + log }
}
