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
