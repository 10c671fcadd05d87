import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// A child process in a process group of its own, and the wait for its end.
///
/// Foundation's `Process` is not used: it looks through `/proc/self/fd` before each start, and on Linux reads past the end
/// of its buffer when the process has more than about a thousand descriptors, which ends it now and then. Any thread.
final class SpawnedProcess: Sendable {
    /// The system could not start the program.
    struct Failure: Error, CustomStringConvertible {
        let program: String
        let number: Int32

        var description: String { "cannot start \(program): \(String(cString: strerror(number)))" }
    }

    /// The stack of the thread that waits, in bytes.
    private static let stackSize = 256 * 1024

    /// `posix_spawn_file_actions_addclosefrom_np` of the C library (2.34 and newer), which Swift does not import.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast(
            $0,
            to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32).self
        )
    }

    let identifier: Int32
    private let running = Mutex(true)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: Without the program's name.
    ///   - environment: All of it.
    ///   - input: The child's standard input; it inherits the standard output and error, and no other descriptor.
    ///   - onExit: Called once, on a thread of its own, when the process is gone: with its status, or with the number of
    ///     the signal that ended it.
    /// - Throws: `Failure`.
    init(
        executable: String,
        arguments: [String],
        environment: [String: String],
        input: Int32,
        onExit: @escaping @Sendable (_ status: Int32, _ wasSignalled: Bool) -> Void
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        guard let closeFrom = Self.closeFrom, closeFrom(&actions, 3) == 0 else {
            throw Failure(program: executable, number: ENOSYS)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))

        var pid: pid_t = 0
        let status = Self.withCStrings([executable] + arguments) { arguments in
            Self.withCStrings(environment.map { $0.key + "=" + $0.value }) { environment in
                posix_spawn(&pid, executable, &actions, &attributes, arguments, environment)
            }
        }
        guard status == 0 else { throw Failure(program: executable, number: status) }
        identifier = pid
        let thread = Thread { [self] in wait(onExit) }
        thread.stackSize = Self.stackSize
        thread.start()
    }

    /// Whether it has not ended yet.
    var isRunning: Bool { running.withLock { $0 } }

    /// Sends a signal, if it has not ended yet.
    func signal(_ number: Int32) {
        // Not reaped while the lock is held, so that the number is nobody else's.
        running.withLock { isRunning in
            if isRunning { _ = Glibc.kill(identifier, number) }
        }
    }

    private func wait(_ onExit: (_ status: Int32, _ wasSignalled: Bool) -> Void) {
        // Its end is noticed first, and taken in under the lock.
        while waitid(P_PID, id_t(identifier), nil, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        var status: Int32 = 0
        running.withLock { isRunning in
            isRunning = false
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
        let signal = status & 0x7F
        onExit(signal == 0 ? status >> 8 & 0xFF : signal, signal != 0)
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
