import Foundation
import Media
import MixerProcess
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// A running mixer process.
///
/// Its standard input is a socket to the broker, which opens the mixer's connections. The socket closes when the
/// gateway ends for any reason, and the mixer exits then.
final class RunningMixer: Sendable {
    private let process: SpawnedProcess
    private let broker: MixerBroker
    private let markersFile: String

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - executable: The path of the `footlight` executable.
    ///   - environment: Variables besides the inherited ones; with the token, which must not appear in the process
    ///     list.
    ///   - markers: The file of the decode markers.
    ///   - broker: The broker of the mixer's connections.
    ///   - log: The relay of the mixer's log messages.
    ///   - onExit: Called once on a separate thread after the process has exited.
    init(
        executable: String,
        arguments: [String],
        environment: [String: String],
        markers: String,
        broker: MixerBroker,
        log: MixerLogRelay,
        onExit: @escaping @Sendable (_ status: Int32, _ wasSignalled: Bool) -> Void
    ) throws {
        markersFile = markers
        self.broker = broker
        let environment = Self.inherited(from: ProcessInfo.processInfo.environment).merging(environment) { $1 }
            .merging([MixerEnvironment.markers: markers]) { $1 }
            .merging(CrashTrace.withoutBacktracer) { $1 }
        do {
            process = try SpawnedProcess(
                executable: executable,
                arguments: arguments,
                environment: environment,
                input: broker.mixerEnd,
                error: log.mixerEnd,
                onExit: onExit
            )
        } catch {
            broker.abandon()
            log.abandon()
            throw error
        }
        broker.started()
        log.started()
    }

    /// Returns the environment variables that a mixer inherits.
    ///
    /// These are variables for paths, fonts, locale and time zone, the mixer's own settings, and those of debugging
    /// tools. Any other may be a secret.
    static func inherited(from environment: [String: String]) -> [String: String] {
        let names: Set = [
            "PATH", "HOME", "LANG", "TZ", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH",
            "SWIFT_BACKTRACE", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE",
        ]
        let prefixes = ["LC_", "FONTCONFIG_", "FOOTLIGHT_MIXER_", "FOOTLIGHT_TEST_"]
        return environment.filter { name, _ in names.contains(name) || prefixes.contains { name.hasPrefix($0) } }
    }

    var isRunning: Bool { process.isRunning }

    var identifier: Int32 { process.identifier }

    /// Returns the participants whose media was being decoded at the exit, and removes the markers; call it once after
    /// the exit.
    func removeMarkers() -> Set<String> {
        defer { unlink(markersFile) }
        return decodedParticipants
    }

    /// The participants whose media is being decoded.
    var decodedParticipants: Set<String> { MixerInput.decodedParticipants(markedIn: markersFile) }

    /// Requests the process to end: closes its standard input and sends SIGTERM.
    func end() {
        broker.hangUp()
        process.signal(SIGTERM)
    }

    /// Sends SIGKILL.
    func kill() {
        process.signal(SIGKILL)
    }
}

/// A child process in a process group of its own, with a thread that waits for its exit.
///
/// Foundation's `Process` is not used: on Linux it scans `/proc/self/fd` before each start, and reads beyond its buffer
/// with more than about a thousand descriptors, which may crash. swift-subprocess does not fit: its child lives within
/// one asynchronous call, whereas a mixer is started by a synchronous call that it outlives. Any thread.
final class SpawnedProcess: Sendable {
    /// The program could not be started.
    struct Failure: Error, CustomStringConvertible {
        let program: String
        let number: Int32

        var description: String { "cannot start \(program): \(String(cString: strerror(number)))" }
    }

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
    ///   - arguments: The arguments without the program's name.
    ///   - environment: The whole environment.
    ///   - input: The child's standard input; besides it only the standard output and error are inherited.
    ///   - error: The child's standard error; inherited if nil.
    ///   - onExit: Called once on a separate thread after the exit, with the exit status or the number of the signal.
    /// - Throws: `Failure`.
    init(
        executable: String,
        arguments: [String],
        environment: [String: String],
        input: Int32,
        error: Int32? = nil,
        onExit: @escaping @Sendable (_ status: Int32, _ wasSignalled: Bool) -> Void
    ) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        if let error { posix_spawn_file_actions_adddup2(&actions, error, 2) }
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
        let thread = WorkerThread(name: "mixer-exit", stackSize: WorkerThread.smallStack) { [self] in wait(onExit) }
        guard !thread.hasStarted else { return }
        signal(SIGKILL)
        wait { _, _ in }
        throw Failure(program: executable, number: EAGAIN)
    }

    /// Whether the process has not exited yet.
    var isRunning: Bool { running.withLock { $0 } }

    /// Sends a signal if the process has not exited yet.
    func signal(_ number: Int32) {
        // The process is not reaped while the lock is held, so that its id cannot be reused.
        running.withLock { isRunning in
            if isRunning { _ = Glibc.kill(identifier, number) }
        }
    }

    private func wait(_ onExit: (_ status: Int32, _ wasSignalled: Bool) -> Void) {
        // Waits for the exit without reaping, which happens under the lock.
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
