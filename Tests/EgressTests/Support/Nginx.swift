import Foundation
import Glibc

/// A real nginx with its RTMP module on a loopback port, with its own files; ended with the object.
final class Nginx {
    let port: UInt16
    let folder: TemporaryFolder
    private let configuration: String
    private var process: Process?

    /// - Parameters:
    ///   - publishing: Lines for the application, such as `deny publish all;`.
    ///   - more: Blocks beside `rtmp`, which may use `FOLDER`.
    init(publishing: String = "", more: String = "", modules: [String] = []) throws {
        port = try Port.free()
        folder = try TemporaryFolder()
        let loads = (["ngx_rtmp_module.so"] + modules).map { "load_module /usr/lib/nginx/modules/\($0);" }.joined(
            separator: "\n"
        )
        let text = """
            \(loads)
            user root;
            daemon off;
            master_process off;
            pid FOLDER/nginx.pid;
            error_log FOLDER/error.log info;
            events { worker_connections 128; }
            rtmp {
                access_log FOLDER/rtmp.log;
                server {
                    listen 127.0.0.1:\(port);
                    application live { live on; record all; record_path FOLDER; \(publishing) }
                }
            }
            \(more)
            """
        configuration = folder.path("nginx.conf")
        try text.replacingOccurrences(of: "FOLDER", with: folder.url.path)
            .write(toFile: configuration, atomically: true, encoding: .utf8)
    }

    deinit { kill() }

    var url: String { "rtmp://127.0.0.1:\(port)/live" }

    func start(waitingFor ports: [UInt16] = []) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
        process.arguments = ["-p", folder.url.path, "-c", configuration, "-e", folder.path("start.log")]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        self.process = process
        for port in [port] + ports { try Port.waitUntilOpen(port) }
    }

    /// Stops the process where it is: connections stay, nothing is read.
    func freeze() { signal(SIGSTOP) }

    func thaw() { signal(SIGCONT) }

    /// Ends the process without a word to its clients.
    func kill() {
        signal(SIGKILL)
        process?.waitUntilExit()
        process = nil
    }

    func recording(_ key: String) -> String { folder.path("\(key).flv") }

    func log(_ name: String) -> String {
        (try? String(contentsOfFile: folder.path(name), encoding: .utf8)) ?? ""
    }

    private func signal(_ number: Int32) {
        if let process, process.isRunning { _ = Glibc.kill(process.processIdentifier, number) }
    }
}

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

/// A folder of a test's own, removed with it.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("egress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // A server's workers may run as another user.
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: url.path)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}
