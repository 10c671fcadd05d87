import Foundation

/// Runs a command line tool to its end, and gives what it printed.
enum Command {
    struct Failure: Error {
        let command: String
        let output: String
    }

    /// Runs `arguments`; after `deadline` seconds the process is ended, and that is a failure.
    @discardableResult
    static func run(_ arguments: [String], deadline: Double = 30) throws -> Data {
        let folder = FileManager.default.temporaryDirectory
        let output = folder.appendingPathComponent("footlight-\(UUID().uuidString).out")
        try Data().write(to: output)
        defer { try? FileManager.default.removeItem(at: output) }
        let handle = try FileHandle(forWritingTo: output)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handle
        process.standardError = handle
        try process.run()
        let watchdog = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + deadline, execute: watchdog)
        process.waitUntilExit()
        watchdog.cancel()
        try handle.close()
        let data = try Data(contentsOf: output)
        guard process.terminationStatus == 0 else {
            throw Failure(command: arguments.joined(separator: " "), output: String(decoding: data, as: UTF8.self))
        }
        return data
    }

    /// The lines that the tool printed.
    static func lines(_ arguments: [String]) throws -> [String] {
        String(decoding: try run(arguments), as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
