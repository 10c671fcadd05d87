import Foundation
import Glibc
import Synchronization

/// An nginx with the RTMP module, as a platform that takes a program: it records all that is published to it.
///
/// One process without a master, so that a signal to it is a signal to all there is. It is ended with the value.
public final class NginxRTMP: Sendable {
    /// The port, the same through all restarts.
    public let port: Int

    private let folder: TemporaryFolder
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts the server on a free port and waits until it listens.
    ///
    /// - Parameters:
    ///   - refusesPublishers: Denies every publish; the TCP connection and the RTMP handshake still succeed.
    ///   - isRecording: Writes each publish into a file of its own; off for measurements.
    ///   - chunkSize: The chunk size it announces, in bytes.
    public init(refusesPublishers: Bool = false, isRecording: Bool = true, chunkSize: Int = 4096) async throws {
        port = try FreePort.pick()
        folder = try TemporaryFolder("nginx")
        try folder.write(
            """
            load_module \(NginxRTMP.modulePath);
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log notice;
            events { worker_connections 8192; }
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

    /// Debian's place of the module; elsewhere the path that nginx itself was built with has to do.
    private static var modulePath: String {
        let debian = "/usr/lib/nginx/modules/ngx_rtmp_module.so"
        return FileManager.default.fileExists(atPath: debian) ? debian : "modules/ngx_rtmp_module.so"
    }

    /// The RTMP address without a stream name: what a platform calls the server URL.
    public var url: String { "rtmp://127.0.0.1:\(port)/live" }

    /// The RTMP address of a stream.
    public func url(stream: String) -> String { url + "/" + stream }

    /// The process id, or nil while the server is down.
    public var pid: Int32? {
        process.withLock { process in process.flatMap { $0.isRunning ? $0.pid : nil } }
    }

    /// The files recorded, oldest first: one for each publish that sent something, named `STREAM-SECONDS.flv`.
    public var recordings: [String] {
        // nginx opens the file before it refuses a publisher, so an empty one says nothing.
        get throws {
            try folder.files(endingWith: ".flv").filter {
                try FileManager.default.attributesOfItem(atPath: $0)[.size] as? Int ?? 0 > 13
            }
        }
    }

    /// What the server has logged.
    public var log: String {
        (try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? ""
    }

    /// Starts the server on its port again and waits until it listens; nothing happens while it runs.
    ///
    /// - Throws: `ToolFailure` with the server's log when it does not come up.
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
            let said = child.standardError + log
            stop()
            throw ToolFailure("nginx does not listen on \(port)", log: said)
        }
    }

    /// Ends the server at once, as a power cut would: SIGKILL, and the system closes its connections.
    public func stop() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }

    /// Stops the server's clock: it keeps its connections and neither reads nor answers, until `resume()`.
    public func pause() {
        process.withLock { $0?.signal(SIGSTOP) }
    }

    /// Lets a paused server go on.
    public func resume() {
        process.withLock { $0?.signal(SIGCONT) }
    }
}
