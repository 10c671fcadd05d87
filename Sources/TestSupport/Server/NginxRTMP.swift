import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// An nginx server with the RTMP module, as a platform that records everything published to it.
///
/// A single process without a master, so that signals reach all of it; it ends with the value.
public final class NginxRTMP: Sendable {
    /// The port, which is the same across restarts.
    public let port: Int
    /// The port of RTMPS, by the module stream in the same process; nil if there is none.
    public let encryptedPort: Int?

    private let folder: TemporaryFolder
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts the server on a free port and waits until it listens.
    ///
    /// - Parameters:
    ///   - refusesPublishers: Whether every publish is denied after the RTMP handshake.
    ///   - isRecording: Whether each publish is written to its own file; disabled for measurements.
    ///   - chunkSize: The announced chunk size in bytes.
    ///   - certificates: Those of RTMPS, `server.pem` among them; nil for RTMP only.
    public init(
        refusesPublishers: Bool = false,
        isRecording: Bool = true,
        chunkSize: Int = 4096,
        certificates: TestCertificates? = nil
    ) async throws {
        port = try FreePort.pick()
        encryptedPort = certificates == nil ? nil : try FreePort.pick()
        folder = try TemporaryFolder("nginx")
        var (module, encryption) = ("", "")
        if let certificates, let encryptedPort {
            module = "load_module /usr/lib/nginx/modules/ngx_stream_module.so;"
            encryption = """
                stream {
                    server {
                        listen 127.0.0.1:\(encryptedPort) ssl backlog=4096;
                        ssl_certificate \(certificates.path("server.pem"));
                        ssl_certificate_key \(certificates.path("server.key"));
                        ssl_protocols TLSv1.3;
                        ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
                        proxy_pass 127.0.0.1:\(port);
                    }
                }
                """
        }
        try folder.write(
            """
            \(module)
            load_module \(NginxRTMP.modulePath);
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log notice;
            events { worker_connections 16384; }
            \(encryption)
            rtmp {
                access_log off;
                server {
                    listen 127.0.0.1:\(port);
                    chunk_size \(chunkSize);
                    application live {
                        live on;
                        \(refusesPublishers ? "deny publish all;" : "")
                        record \(isRecording ? "all" : "off");
                        record_path \(folder.path);
                        record_unique on;
                    }
                }
            }
            """,
            to: "nginx.conf"
        )
        try await start()
    }

    /// The module path on Debian, or the default path of nginx elsewhere.
    private static var modulePath: String {
        let debian = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
        return FileManager.default.fileExists(atPath: debian) ? debian : "modules/ngx_rtmp_module.so"
    }

    /// The RTMP URL without a stream name, which platforms call the server URL.
    public var url: String { "rtmp://127.0.0.1:\(port)/live" }

    /// Returns the RTMP URL of a stream.
    public func url(stream: String) -> String { url + "/" + stream }

    /// The process ID; nil while the server is stopped.
    public var pid: Int32? {
        process.withLock { process in process.flatMap { $0.isRunning ? $0.pid : nil } }
    }

    /// The non-empty recorded files, oldest first, named `STREAM-SECONDS.flv`.
    public var recordings: [String] {
        // nginx creates the file before it refuses a publisher, so empty files are excluded.
        get throws {
            try folder.files(endingWith: ".flv").filter {
                try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0 > 13
            }
        }
    }

    /// The server's log.
    public var log: String {
        (try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? ""
    }

    /// Starts the server on its port and waits until it listens; has no effect while it runs.
    ///
    /// - Throws: `ToolFailure` with the server's log if it does not start.
    public func start() async throws {
        guard pid == nil else { return }
        let child = try ChildProcess(
            ["nginx", "-p", folder.path, "-e", "error.log", "-c", folder.file("nginx.conf")],
            environment: ["PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"],
            logFolder: folder.path
        )
        process.withLock { $0 = child }
        let isUp = try await eventually(within: .seconds(5)) { !child.isRunning || FreePort.isListening(self.port) }
        guard isUp, child.isRunning else {
            let output = child.standardError + log
            stop()
            throw ToolFailure("nginx does not listen on \(port)", log: output)
        }
    }

    /// Kills the server with SIGKILL; the system closes its connections.
    public func stop() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }

    /// Suspends the server with its connections open until `resume()`.
    public func pause() {
        process.withLock { $0?.signal(SIGSTOP) }
    }

    /// Resumes a suspended server.
    public func resume() {
        process.withLock { $0?.signal(SIGCONT) }
    }
}
