import Foundation
import Glibc
import Synchronization

/// A program started by a test, which never outlives it.
///
/// The child leads its own process group. Every process that it starts inherits a mark in its environment as well, so
/// that `end()` finds those that made a group of their own. `end()` runs in `deinit` and when this process exits.
public final class ChildProcess: Sendable {
    /// How a program ended.
    public enum Exit: Sendable, Equatable {
        /// It returned this status.
        case code(Int32)
        /// This signal killed it.
        case signal(Int32)
    }

    private struct State {
        var exit: Exit?
        /// Nothing is left of the process group, so its number may belong to somebody else by now.
        var isGroupGone = false
    }

    /// The process id; a signal goes through `signal(_:)`, which never hits a later process of the same number.
    public let pid: Int32
    /// The file that takes the standard output.
    public let outputPath: String
    /// The file that takes the standard error.
    public let errorPath: String

    private let name: String
    private let mark: String
    private let folder: TemporaryFolder?
    private let state = Mutex(State())

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program, by path or by a name looked up in PATH, and its arguments.
    ///   - environment: Variables set on top of this process's own; an empty value removes the variable.
    ///   - logFolder: Where `NAME.out` and `NAME.err` are written; a temporary folder of its own when nil.
    /// - Throws: `ToolFailure` when the program cannot be started.
    public init(
        _ arguments: [String],
        environment: [String: String] = [:],
        logFolder: String? = nil,
        sockets: KeptSockets? = nil
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
        try ChildRegister.shared.add(pid: pid, mark: mark)
    }

    deinit { end() }

    /// How the program ended, or nil while it runs.
    public var exit: Exit? {
        state.withLock { state in
            collect(&state, options: WNOHANG)
            return state.exit
        }
    }

    /// Whether the program still runs.
    public var isRunning: Bool { exit == nil }

    /// Sends a signal to the program alone, not to its group; nothing happens once it has ended.
    public func signal(_ number: Int32) {
        state.withLock { state in
            collect(&state, options: WNOHANG)
            if state.exit == nil { kill(pid, number) }
        }
    }

    /// Waits for the program to end by itself.
    ///
    /// - Returns: How it ended, or nil when it still runs at the deadline.
    public func wait(_ deadline: Duration) async throws -> Exit? {
        _ = try await eventually(within: deadline, every: .milliseconds(10)) { self.exit != nil }
        return exit
    }

    /// Waits for the program to end by itself with status 0.
    ///
    /// - Throws: `ToolFailure` with the standard error when it ends otherwise, or not before the deadline; it is ended
    ///   in that case.
    public func waitForSuccess(_ deadline: Duration) async throws {
        let exit = try await wait(deadline)
        guard exit == .code(0) else {
            end()
            let outcome = exit.map { "ended with \($0)" } ?? "did not end within \(deadline)"
            throw ToolFailure("\(name) \(outcome)", log: standardError)
        }
    }

    /// Asks the program to stop with SIGTERM, waits, and ends what is left.
    ///
    /// - Returns: How it ended by itself; nil when it had to be killed.
    @discardableResult
    public func stop(within deadline: Duration = .seconds(5)) async throws -> Exit? {
        signal(SIGTERM)
        let exit = try await wait(deadline)
        end()
        return exit
    }

    /// Kills the program and all that it started, and collects it; returns when none is left to be collected.
    public func end() {
        state.withLock { state in
            if !state.isGroupGone { kill(-pid, SIGKILL) }
            // A process may start another while it is looked for, and takes a moment to die; none takes five seconds.
            // While it dies it has lost its environment, and with it the mark, before it is gone.
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
        ChildRegister.shared.remove(pid: pid)
    }

    /// What the program has written to its standard output, as text.
    public var standardOutput: String { ChildProcess.text(outputPath) }

    /// What the program has written to its standard error, as text.
    public var standardError: String { ChildProcess.text(errorPath) }

    /// The processes alive that this program started, and those that they started.
    public var descendants: [Int32] {
        // The environment of a process that keeps its memory to itself is for root only.
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
