import Foundation

/// Runs a command line tool to its end.
enum Tool {
    struct Failure: Error {
        let command: String
        let output: String
    }

    /// What `arguments` prints; after 20 seconds the process is ended, and that is a failure.
    @discardableResult
    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 20, execute: watchdog)
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        watchdog.cancel()
        let text = String(decoding: output, as: UTF8.self)
        guard process.terminationStatus == 0 else {
            throw Failure(command: arguments.joined(separator: " "), output: text)
        }
        return text
    }
}
