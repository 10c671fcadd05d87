import CSeccomp
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// Writes a short stack trace to standard error when a process of the gateway crashes, within milliseconds.
///
/// Swift's own backtracer writes more, but keeps the crashed process and its ports open for seconds. Its setting is
/// read from the environment before `main`, so that it can only be turned off for a child process, or by re-executing
/// the program.
package enum CrashTrace {
    private static let variable = "SWIFT_BACKTRACE"

    /// The environment variables that turn Swift's backtracer off in a child process.
    package static let withoutBacktracer = [variable: "enable=no"]

    /// The most stack frames that are written.
    fileprivate static let frames: Int32 = 16
    // SIGSYS is not a crash: the seccomp filter ends a mixer with it.
    private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]

    /// Re-executes this program in the same process with Swift's backtracer off, and installs the trace handler.
    ///
    /// The program is not re-executed if the environment configures the backtracer already, or if the call fails. Call
    /// it before opening files or starting threads.
    package static func prepare() {
        if ProcessInfo.processInfo.environment[variable] == nil, let program = realpath("/proc/self/exe", nil) {
            for (name, value) in withoutBacktracer { setenv(name, value, 1) }
            var arguments: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.arguments.map { strdup($0) }
            arguments.append(nil)
            execv(program, arguments)
            // execv returns only on failure.
            for argument in arguments { free(argument) }
            free(program)
        }
        install()
    }

    /// Installs signal handlers that write the trace and then end the process with the original signal.
    static func install() {
        // The first call loads the unwinder, which a signal handler must not do.
        withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 2) {
            guard let start = $0.baseAddress else { return }
            _ = Unwinder.frames?(start, 2)
        }
        _ = (Unwinder.write, Unwinder.name)
        for signal in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = writeTrace
            // One shot: the raise below, or the same instruction again, ends the process.
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(signal, &action, nil)
        }
    }
}

/// The C library's stack walking functions, which Swift does not import; resolved before any signal arrives.
private enum Unwinder {
    typealias Frames = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32) -> Int32
    typealias Write = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32, Int32) -> Void

    typealias Name = @convention(c) (pthread_t, UnsafeMutablePointer<CChar>, Int) -> Int32

    static let frames = dlsym(nil, "backtrace").map { unsafeBitCast($0, to: Frames.self) }
    static let write = dlsym(nil, "backtrace_symbols_fd").map { unsafeBitCast($0, to: Write.self) }
    static let name = dlsym(nil, "pthread_getname_np").map { unsafeBitCast($0, to: Name.self) }
}

/// The signal handler; allocates no memory and takes no lock.
private func writeTrace(_ signal: Int32) {
    write("crash: signal ")
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        guard let start = text.baseAddress else { return }
        text[0] = CChar(truncatingIfNeeded: 48 + signal / 10)
        text[1] = CChar(truncatingIfNeeded: 48 + signal % 10)
        _ = write(STDERR_FILENO, start, 2)
        write(" in thread ")
        text.initialize(repeating: 0)
        if let name = Unwinder.name, name(pthread_self(), start, text.count) == 0 {
            _ = write(STDERR_FILENO, start, strlen(start))
        }
        write("\n")
    }
    withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: Int(CrashTrace.frames)) { frames in
        guard let start = frames.baseAddress, let find = Unwinder.frames else { return }
        Unwinder.write?(start, find(start, CrashTrace.frames), STDERR_FILENO)
    }
    // The signal is blocked until this handler returns, and its default action is restored by then.
    raise(signal)
}

private func write(_ text: StaticString) {
    _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
}
