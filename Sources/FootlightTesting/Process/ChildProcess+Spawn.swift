import Foundation
import Glibc

extension ChildProcess {
    /// Starts a program in a new process group, with default signal handling and no open descriptor but its three
    /// standard ones and, from 3 on, those that are passed to it.
    ///
    /// There is nothing to read unless `input` is an open descriptor.
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
        for (place, descriptor) in descriptors.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(3 + place))
        }
        // Sockets of other tests must not live on in the child. To close one that is gone by then is no error.
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

    /// Starts a program, waits for it to end with status 0, and returns its standard output.
    ///
    /// - Throws: `ToolFailure` with the standard error when it ends otherwise, or not before the deadline.
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
