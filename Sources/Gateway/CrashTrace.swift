import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// What a process of ours leaves behind when it crashes: a few lines on its standard error, within milliseconds.
///
/// Swift's own backtracer writes more, but keeps the process for seconds before it ends, with its ports open and nobody
/// behind them; whoever supervises it can do nothing meanwhile. It is read from the environment before any code of ours
/// runs, so that it can only be turned off for another process, or by starting the program once more.
public enum CrashTrace {
    private static let variable = "SWIFT_BACKTRACE"

    /// What a child's environment says so that Swift's backtracer does not run.
    static let withoutBacktracer = [variable: "enable=no"]

    /// Frames of the thread that crashed.
    fileprivate static let frames: Int32 = 16
    // SIGSYS is no crash: it is how a mixer is kept from what it may not do.
    private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP]

    /// Runs this program once more in this same process with Swift's backtracer off, and installs the short trace.
    ///
    /// Nothing is run again where the environment says what the backtracer is to do, or where that fails. To be called
    /// before anything is opened or started.
    public static func prepare() {
        if ProcessInfo.processInfo.environment[variable] == nil, let program = realpath("/proc/self/exe", nil) {
            for (name, value) in withoutBacktracer { setenv(name, value, 1) }
            var arguments: [UnsafeMutablePointer<CChar>?] = ProcessInfo.processInfo.arguments.map { strdup($0) }
            arguments.append(nil)
            execv(program, arguments)
            // Only a call that failed comes back.
            for argument in arguments { free(argument) }
            free(program)
        }
        install()
    }

    /// Lets a crash of this process write a short trace, and end the process as it would have without.
    static func install() {
        // The first use loads what unwinds the stack, which a signal handler must not.
        withUnsafeTemporaryAllocation(of: UnsafeMutableRawPointer?.self, capacity: 2) {
            guard let start = $0.baseAddress else { return }
            _ = Unwinder.frames?(start, 2)
        }
        _ = (Unwinder.write, Unwinder.name)
        for signal in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = writeTrace
            // Once: the next one, which is ours or that of the same instruction, ends the process.
            action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
            sigaction(signal, &action, nil)
        }
    }
}

/// The C library's calls that walk a stack, which Swift does not import; looked up before any signal comes.
private enum Unwinder {
    typealias Frames = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32) -> Int32
    typealias Write = @convention(c) (UnsafeMutablePointer<UnsafeMutableRawPointer?>, Int32, Int32) -> Void

    typealias Name = @convention(c) (pthread_t, UnsafeMutablePointer<CChar>, Int) -> Int32

    static let frames = dlsym(nil, "backtrace").map { unsafeBitCast($0, to: Frames.self) }
    static let write = dlsym(nil, "backtrace_symbols_fd").map { unsafeBitCast($0, to: Write.self) }
    static let name = dlsym(nil, "pthread_getname_np").map { unsafeBitCast($0, to: Name.self) }
}

/// The signal handler; allocates nothing and takes no lock of ours.
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
    // Held back until this handler returns, and then no longer handled.
    raise(signal)
}

private func write(_ text: StaticString) {
    _ = write(STDERR_FILENO, text.utf8Start, text.utf8CodeUnitCount)
}
