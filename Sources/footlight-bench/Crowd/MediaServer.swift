import Egress
import FootlightTesting
import Foundation
import Glibc
import Media
import NIOPosix
import RTMP
import TestSupport

/// A server to which one stream is published, and from which many viewers play it.
struct MediaServer {
    static let room = "bench"

    /// The protocol by which a crowd plays.
    enum Playback: String, CaseIterable {
        case rtmp
        case flv
    }

    let name: String
    let pid: Int32
    let port: Int
    /// The HTTP port; nil for a server without HTTP.
    var httpPort: Int?
    var playback = Playback.rtmp
    let application = "live"
    let stream = MediaServer.room
    /// The address at which the stream is published.
    let target: PushAddress
    /// Stops the server.
    let end: () -> Void

    /// The port to which viewers connect.
    var viewerPort: Int { playback == .rtmp ? port : httpPort ?? port }

    /// The bytes that a viewer sends to play.
    var dialogue: PlayHandshake {
        switch playback {
        case .rtmp: .rtmp(port: port, application: application, stream: stream)
        case .flv: .flv(port: viewerPort, stream: stream)
        }
    }

    /// Makes a player, by the crowd's protocol, that passes on each packet with its arrival time.
    func player(
        group: MultiThreadedEventLoopGroup,
        onPacket: @escaping @Sendable (MediaPacket, MonotonicTime) -> Void,
        onEnd: @escaping @Sendable () -> Void
    ) -> any StreamPlayer {
        switch playback {
        case .rtmp:
            let url = "rtmp://127.0.0.1:\(port)/\(application)/\(stream)"
            return RTMPPlayer(url: url, group: group, onPacket: onPacket, onEnd: { _ in onEnd() })
        case .flv:
            return FLVPlayer(port: viewerPort, dialogue: dialogue, group: group, onPacket: onPacket, onEnd: onEnd)
        }
    }

    /// Starts nginx with its RTMP module, one process, no recording.
    ///
    /// - Parameter certificates: Those of TLS, through which viewers are then connected; nil for plain RTMP.
    static func nginx(encryptedBy certificates: TestCertificates? = nil) async throws -> MediaServer {
        let server = try await NginxRTMP(isRecording: false, certificates: certificates)
        guard let pid = server.pid else { throw ToolFailure("nginx is gone", log: server.log) }
        var client: NginxTLSClient?
        if let port = server.encryptedPort { client = try await NginxTLSClient(to: port) }
        return MediaServer(
            name: "nginx-rtmp",
            pid: pid,
            port: client?.port ?? server.port,
            target: try PushAddress(url: server.url, streamKey: room),
            end: { [client] in
                client?.stop()
                server.stop()
            }
        )
    }

    private init(name: String, pid: Int32, port: Int, target: PushAddress, end: @escaping () -> Void) {
        self.name = name
        self.pid = pid
        self.port = port
        self.target = target
        self.end = end
    }

    /// Starts the gateway with a room without hosts; the stream is published as its program, as by a mixer.
    ///
    /// - Parameters:
    ///   - tick: Milliseconds between two writes to a viewer.
    ///   - threads: Event loops.
    ///   - writesDirectly: Whether it writes to viewers' sockets directly.
    ///   - certificates: Those of RTMPS, by which viewers are then connected; nil for plain RTMP.
    ///   - program: The gateway to start.
    static func gateway(
        tick: Int,
        threads: Int,
        writesDirectly: Bool = true,
        encryptedBy certificates: TestCertificates? = nil,
        program: GatewayProgram
    ) async throws -> MediaServer {
        var settings = [
            "FOOTLIGHT_FANOUT_TICK": "\(tick)", "FOOTLIGHT_THREADS": "\(threads)",
            "FOOTLIGHT_FANOUT_DIRECT_WRITES": "\(writesDirectly)",
        ]
        if let certificates {
            settings["FOOTLIGHT_RTMPS_PORT"] = "0"
            settings["FOOTLIGHT_TLS_CERTIFICATE"] = certificates.path("server.pem")
            settings["FOOTLIGHT_TLS_KEY"] = certificates.path("server.key")
        }
        let gateway = try await program.start(settings)
        let server = try await MediaServer(gateway, name: "Footlight, \(tick) ms")
        guard let port = gateway.endpoints.rtmpsPort else { return server }
        let client = try await NginxTLSClient(to: port)
        return MediaServer(name: server.name, pid: server.pid, port: client.port, target: server.target) {
            client.stop()
            server.end()
        }
    }

    /// Creates a room without hosts in a gateway.
    init(_ gateway: GatewayProcess, name: String) async throws {
        try await gateway.makeRoom(Self.room)
        self.name = name
        pid = gateway.endpoints.pid
        port = gateway.endpoints.rtmpPort
        httpPort = gateway.endpoints.httpPort
        target = try gateway.programAddress(of: Self.room)
        end = { gateway.end() }
    }
}

/// The resource usage of a server at one moment.
struct ServerReading {
    let moment: MonotonicTime
    /// The server's resident memory in bytes.
    let bytes: Int
    private let used: Double
    /// Processor seconds of this program, and idle processor seconds of the machine.
    private let own: Double
    private let idle: Double

    init(_ name: String, pid: Int32) throws {
        guard let used = RunningProcess.processorSeconds(of: pid), let bytes = RunningProcess.residentBytes(of: pid)
        else { throw ToolFailure("\(name) is gone") }
        guard let own = RunningProcess.processorSeconds(of: getpid()), let idle = RunningProcess.idleSeconds()
        else { throw ToolFailure("the system's processor time cannot be read") }
        (self.own, self.idle) = (own, idle)
        moment = .now()
        self.used = used
        self.bytes = bytes
    }

    /// Returns the processor milliseconds per second since `earlier`.
    func milliseconds(since earlier: ServerReading) -> Double {
        (used - earlier.used) * 1000 / moment.seconds(since: earlier.moment)
    }

    /// Returns the same for everything else but the server and this program.
    ///
    /// Data sent when an acknowledgement or a pacing timer allows it, not when the server writes, is sent in an
    /// interrupt and billed to the process that happens to run, mostly to none. It counts here, as does the receivers'
    /// share.
    func restMilliseconds(since earlier: ServerReading) -> Double {
        let time = moment.seconds(since: earlier.moment)
        let busy = time * Double(sysconf(Int32(_SC_NPROCESSORS_ONLN))) - (idle - earlier.idle)
        return (busy - (used - earlier.used) - (own - earlier.own)) * 1000 / time
    }
}

/// An nginx that serves files by sendfile, one process.
final class NginxFileServer: Sendable {
    let port: Int
    /// The port of HTTPS; nil if there is none.
    let encryptedPort: Int?
    private let folder: TemporaryFolder
    private let process: ChildProcess

    var pid: Int32 { process.pid }

    /// Starts the server with these files.
    ///
    /// - Parameter certificates: Those of HTTPS; nil for HTTP only.
    init(_ files: [String: [UInt8]], encryptedBy certificates: TestCertificates? = nil) async throws {
        port = try FreePort.pick()
        encryptedPort = certificates == nil ? nil : try FreePort.pick()
        var encryption = ""
        if let certificates, let encryptedPort {
            encryption = """
                listen 127.0.0.1:\(encryptedPort) ssl http2 backlog=4096;
                ssl_certificate \(certificates.path("server.pem"));
                ssl_certificate_key \(certificates.path("server.key"));
                ssl_protocols TLSv1.3;
                ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
                """
        }
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
                    \(encryption)
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

    /// Stops the server.
    func stop() {
        process.end()
    }
}
