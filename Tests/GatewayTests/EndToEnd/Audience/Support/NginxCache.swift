import FootlightTesting
import Foundation
import Synchronization

/// An nginx in front of a gateway, with the configuration of `deploy/nginx` but for its ports and folders.
final class NginxCache: Sendable {
    let port: Int
    private let folder: TemporaryFolder
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts it and waits until it listens.
    ///
    /// - Parameters:
    ///   - gatewayPort: Where the gateway answers.
    ///   - beatsPort: Where the lines about playlists go.
    init(gatewayPort: Int, beatsPort: Int) async throws {
        port = try FreePort.pick()
        folder = try TemporaryFolder("cache")
        let changes = [
            "listen 80;": "listen 127.0.0.1:\(port);",
            "server 127.0.0.1:8080;": "server 127.0.0.1:\(gatewayPort);",
            "syslog:server=127.0.0.1:15514": "syslog:server=127.0.0.1:\(beatsPort)",
            "/var/cache/nginx/footlight": folder.file("cache"),
        ]
        var site = try ProjectFile.text("deploy/nginx/footlight-cache.conf")
        for (old, new) in changes {
            guard site.contains(old) else { throw ToolFailure("the configuration of nginx has no \(old)") }
            site = site.replacing(old, with: new)
        }
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
        try folder.write(site, to: "footlight-cache.conf")
        try folder.write(
            """
            daemon off;
            user root;
            worker_processes 2;
            pid nginx.pid;
            error_log error.log notice;
            events { worker_connections 4096; }
            http {
                \(scratch.joined(separator: "\n    "))
                include \(folder.file("footlight-cache.conf"));
            }
            """,
            to: "nginx.conf"
        )
        try await start()
    }

    /// What it has logged.
    var log: String { (try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? "" }

    func start() async throws {
        let child = try ChildProcess(
            ["nginx", "-p", folder.path, "-e", "error.log", "-c", folder.file("nginx.conf")],
            environment: ["PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"],
            logFolder: folder.path
        )
        process.withLock { $0 = child }
        let isUp = try await eventually { !child.isRunning || FreePort.isListening(self.port) }
        guard isUp, child.isRunning else {
            let said = child.standardError + log
            stop()
            throw ToolFailure("nginx does not listen on \(port)", log: said)
        }
    }

    /// Ends it at once, with all connections.
    func stop() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }
}
