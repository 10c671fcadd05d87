import Foundation

/// Runs a command to its end and gives back what it printed.
enum Tool {
    struct Failure: Error {
        var command: String
        var output: String
    }

    @discardableResult
    static func run(_ name: String, _ arguments: [String], in folder: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(command: ([name] + arguments).joined(separator: " "), output: text)
        }
        return text
    }
}
