import Foundation
import Mixer

#if canImport(Glibc)
import Glibc
#endif

/// One running mixer process.
///
/// Its standard input is a pipe that this process holds open and never writes to: when the gateway goes, however it
/// goes, the pipe closes and the mixer ends itself.
final class MixerProcess: Sendable {
    private let process = Process()
    private let lifeline = Pipe()
    private let marks: String

    /// Starts the process.
    ///
    /// - Parameters:
    ///   - executable: Path of the `footlight` program.
    ///   - environment: Added to this process's own; carries the token, which must not show in the process list.
    ///   - marks: The file in which it marks whose media it is decoding.
    ///   - onExit: Called once, on a thread of its own, when the process is gone.
    init(
        executable: String,
        arguments: [String],
        environment: [String: String],
        marks: String,
        onExit: @escaping @Sendable (_ status: Int32, _ wasSignalled: Bool) -> Void
    ) throws {
        self.marks = marks
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
            .merging([RoomMixer.marksVariable: marks]) { $1 }
        process.standardInput = lifeline
        process.terminationHandler = { process in
            onExit(process.terminationStatus, process.terminationReason == .uncaughtSignal)
        }
        try process.run()
        // Our copy of the end the child reads would keep the pipe open.
        try? lifeline.fileHandleForReading.close()
    }

    var isRunning: Bool { process.isRunning }

    var identifier: Int32 { process.processIdentifier }

    /// The inputs whose media the process was decoding as it ended; to be asked once, when it is gone.
    func takeMarks() -> [String] {
        defer { unlink(marks) }
        return WorkMarks.marked(in: marks)
    }

    /// Asks the process to end: its lifeline closes, and it gets SIGTERM.
    func end() {
        try? lifeline.fileHandleForWriting.close()
        if process.isRunning { process.terminate() }
    }

    /// Ends the process without asking.
    func kill() {
        if process.isRunning { _ = sendSignal(process.processIdentifier, SIGKILL) }
    }
}

/// The C function, whose name the method above hides.
private func sendSignal(_ process: Int32, _ signal: Int32) -> Int32 {
    kill(process, signal)
}
