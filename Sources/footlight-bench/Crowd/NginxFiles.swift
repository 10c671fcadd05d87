import FootlightTesting
import Foundation

/// An nginx that serves files by sendfile, one process.
final class NginxFiles: Sendable {
    let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    var pid: Int32 { process.pid }

    /// Serves the files by their names from now on.
    init(_ files: [String: [UInt8]]) async throws {
        port = try FreePort.pick()
        folder = try TemporaryFolder("nginx-files")
        for (name, bytes) in files {
            try Data(bytes).write(to: URL(fileURLWithPath: folder.file(name)))
        }
        try folder.write(
            """
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log notice;
            events { worker_connections 16384; }
            http {
                access_log off;
                sendfile on;
                tcp_nopush on;
                keepalive_requests 1000000000;
                keepalive_timeout 3600;
                open_file_cache max=100;
                types { application/vnd.apple.mpegurl m3u8; video/mp4 mp4 m4s; }
                server {
                    listen 127.0.0.1:\(port) backlog=4096;
                    root \(folder.path);
                }
            }
            """,
            to: "nginx.conf"
        )
        let child = try ChildProcess(
            ["nginx", "-p", folder.path, "-e", "error.log", "-c", folder.file("nginx.conf")],
            environment: ["PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"],
            logFolder: folder.path
        )
        process = child
        let port = port
        guard try await eventually(within: .seconds(5), { !child.isRunning || FreePort.isListening(port) }),
            child.isRunning
        else {
            child.end()
            throw ToolFailure("nginx does not listen", log: child.standardError)
        }
    }

    /// Ends the server.
    func stop() {
        process.end()
    }
}
