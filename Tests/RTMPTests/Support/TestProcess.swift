import Foundation

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A program run by a test, which ends with the value.
final class TestProcess {
    private let process = Process()
    private let output = Pipe()

    init(_ arguments: String...) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
    }

    deinit {
        stop()
    }

    /// Kills the program with SIGKILL, since a child of a worker thread may have other signals blocked.
    func stop() {
        if process.isRunning {
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }
    }

    /// Waits for the end, killing the program after `seconds`, and returns its output.
    func finish(seconds: Double = 20) -> (status: Int32, output: String) {
        let process = process
        DispatchQueue.global().asyncAfter(deadline: .now() + seconds) {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    /// Returns whether a program is installed.
    static func exists(_ name: String) -> Bool {
        ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}
