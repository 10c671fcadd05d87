import ArgumentParser
import Egress
import FootlightTesting
import Foundation
import RTMP
import TestSupport

struct EncryptionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tls",
        abstract:
            "Measures what TLS costs for HLS (HTTP/1.1 and HTTP/2) and RTMP viewers, beside nginx with the same TLS.",
        discussion: """
            HLS viewers are those of h2load (Debian: nghttp2-client): each fetches a media playlist and the newest part in \
            turn, ten requests a second, as a low-latency player does. nginx serves the same bytes from files. RTMPS \
            viewers are decrypted by an nginx between them and the server; an nginx-rtmp has its own TLS by the module \
            stream. All use TLS 1.3 with AES-128-GCM.
            """
    )

    @Option(help: "The number of viewers.")
    var viewers = 200

    @Option(help: "Protocols: hls, rtmp, separated by commas.")
    var protocols = "hls,rtmp"

    @Option(help: "Kilobits per second of the stream.")
    var rate = 500

    @Option(help: "Seconds of each measurement.")
    var seconds = 8

    @Option(help: "Rounds of the alternating servers.")
    var rounds = 3

    @Option(help: "Event loops of the gateway; nginx has one worker.")
    var threads = 1

    @OptionGroup var program: GatewayProgram

    func run() async throws {
        EgressLibraries.initialise()
        DescriptorLimit.raise()
        let names = Set(protocols.split(separator: ",").map(String.init))
        guard names.isSubset(of: ["hls", "rtmp"]), !names.isEmpty else {
            throw ValidationError("\(protocols) are not hls or rtmp")
        }
        let folder = try TemporaryFolder("tls-bench")
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("server", for: "localhost")
        print("\n\(viewers) viewers, \(rate) kb/s, gateway on \(threads) event loop(s), \(rounds) rounds\n")
        if names.contains("hls") {
            try await EncryptedHLSComparison(command: self, certificates: certificates).run()
        }
        if names.contains("rtmp") { try await measureRTMP(certificates) }
    }

    // MARK: RTMP

    private func measureRTMP(_ certificates: TestCertificates) async throws {
        let clip = try await Clip.program(hasAudio: false, seconds: 10, kilobits: rate)
        let run = FanOutRun(clip: clip, viewers: viewers, seconds: seconds, joins: 0)
        let servers: [(name: String, start: () async throws -> MediaServer)] = [
            ("nginx-rtmp, RTMP", { try await .nginx() }),
            ("nginx-rtmp, RTMPS", { try await .nginx(encryptedBy: certificates) }),
            ("Footlight, RTMP", { try await .gateway(tick: 66, threads: threads, program: program) }),
            (
                "Footlight, RTMPS",
                { try await .gateway(tick: 66, threads: threads, encryptedBy: certificates, program: program) }
            ),
        ]
        var figures = servers.map { _ in Samples() }
        for _ in 0..<rounds {
            for (index, server) in servers.enumerated() {
                figures[index].add(try await run.measure(try await server.start(), alone: 0).processor)
            }
        }
        var table = Table("server", "CPU ms / viewer s", "of nginx", "of plain")
        let costs = figures.map(\.median)
        for (index, server) in servers.enumerated() {
            table.add([
                server.name, costs[index].text(3), (costs[index] / costs[index % 2]).text(2),
                (costs[index] / costs[index - index % 2]).text(2),
            ])
        }
        table.printOut()
    }
}

/// Compares HLS viewers of a gateway and of an nginx with the same files: in clear, and by TLS with HTTP/1.1 and HTTP/2.
struct EncryptedHLSComparison {
    /// How requests are transported.
    private enum Transport: String, CaseIterable {
        case plain = "HTTP/1.1"
        case http1 = "HTTPS, HTTP/1.1"
        case http2 = "HTTPS, HTTP/2"

        /// The options of h2load.
        var options: [String] { self == .http2 ? [] : ["--h1"] }

        func base(_ ports: (plain: Int, encrypted: Int)) -> String {
            self == .plain ? "http://127.0.0.1:\(ports.plain)" : "https://127.0.0.1:\(ports.encrypted)"
        }
    }

    /// Requests of a viewer per second: five playlists and five parts.
    private static let requestsPerSecond = 10
    /// Seconds in which a crowd connects and settles.
    private static let settling = 3

    let command: EncryptionCommand
    let certificates: TestCertificates

    func run() async throws {
        let gateway = try await command.program.start([
            "FOOTLIGHT_THREADS": "\(command.threads)", "FOOTLIGHT_HTTPS_PORT": "0",
            "FOOTLIGHT_TLS_CERTIFICATE": certificates.path("server.pem"),
            "FOOTLIGHT_TLS_KEY": certificates.path("server.key"),
        ])
        defer { gateway.end() }
        guard let encrypted = gateway.endpoints.httpsPort else { throw ToolFailure("the gateway has no HTTPS port") }
        let server = try await MediaServer(gateway, name: "Footlight")
        let clip = try await Clip.program(hasAudio: false, seconds: 10, kilobits: command.rate)
        let stream = try await PublishedStream(clip, to: server)
        defer { stream.stop() }
        let ports = (plain: gateway.endpoints.httpPort, encrypted: encrypted)
        let monitor = PlaylistMonitor(port: ports.plain, room: server.stream, stream: stream)
        // Three segments, so that the playlist has its full length.
        try await Task.sleep(for: .seconds(9))
        guard let snapshot = monitor.snapshot, let part = monitor.middlePart else {
            try monitor.stop()
            throw ToolFailure("the gateway has no parts")
        }
        let nginx = try await NginxFileServer(
            ["part.m4s": part, "media.m3u8": Array(snapshot.playlist.utf8)],
            encryptedBy: certificates
        )
        defer { nginx.stop() }
        guard let nginxPort = nginx.encryptedPort else { throw ToolFailure("nginx has no port for TLS") }
        var connection = try HTTPExchange(port: ports.plain)
        let playlist = try PlaylistMonitor.mediaPath(room: server.stream, connection: &connection)

        var (theirs, ours) = (Transport.allCases.map { _ in Samples() }, Transport.allCases.map { _ in Samples() })
        for _ in 0..<command.rounds {
            for (index, transport) in Transport.allCases.enumerated() {
                theirs[index].add(
                    try await measure(
                        "nginx",
                        nginx.pid,
                        transport,
                        (nginx.port, nginxPort),
                        ["/media.m3u8", "/part.m4s"]
                    )
                )
                // A part that stays available for the whole measurement.
                let path = monitor.snapshot?.partPath ?? ""
                ours[index].add(
                    try await measure("the gateway", gateway.endpoints.pid, transport, ports, [playlist, path])
                )
            }
        }
        try monitor.stop()
        var table = Table("server", "CPU ms / viewer s", "of nginx", "of plain")
        for (name, costs) in [("nginx", theirs), ("Footlight", ours)] {
            for (index, transport) in Transport.allCases.enumerated() {
                table.add([
                    "\(name), \(transport.rawValue)", costs[index].median.text(3),
                    (costs[index].median / theirs[index].median).text(2),
                    (costs[index].median / costs[0].median).text(2),
                ])
            }
        }
        table.printOut()
        print("\nparts of \(part.count / 1024) KiB, playlists of \(snapshot.playlist.utf8.count / 1024) KiB\n")
    }

    /// Returns the server's processor milliseconds per viewer and second, without its idle load.
    private func measure(
        _ name: String,
        _ pid: Int32,
        _ transport: Transport,
        _ ports: (plain: Int, encrypted: Int),
        _ paths: [String]
    ) async throws -> Double {
        let quiet = try ServerReading(name, pid: pid)
        try await Task.sleep(for: .seconds(2))
        let before = try ServerReading(name, pid: pid)
        let duration = Self.settling + command.seconds + 2
        let crowd = try ChildProcess(
            ["h2load", "-c", "\(command.viewers)", "-t", "1", "-m", "1", "-D", "\(duration)"]
                + ["--rps=\(Self.requestsPerSecond)"] + transport.options
                + paths.map { transport.base(ports) + $0 }
        )
        defer { crowd.end() }
        try await Task.sleep(for: .seconds(Self.settling))
        let first = try ServerReading(name, pid: pid)
        try await Task.sleep(for: .seconds(command.seconds))
        let last = try ServerReading(name, pid: pid)
        try await crowd.waitForSuccess(.seconds(20))
        let output = crowd.standardOutput
        let succeeded = output.firstMatch(of: /(\d+) succeeded, 0 failed/).flatMap { Int($0.output.1) } ?? 0
        let due = command.viewers * Self.requestsPerSecond * duration
        guard succeeded * 100 > due * 90, output.contains(" 2xx, 0 3xx, 0 4xx, 0 5xx") else {
            throw ToolFailure("\(name), \(transport.rawValue): \(succeeded) of \(due) requests succeeded", log: output)
        }
        return (last.milliseconds(since: first) - before.milliseconds(since: quiet)) / Double(command.viewers)
    }
}

/// An nginx that accepts plain connections and continues them by TLS, for viewers that speak none themselves.
final class NginxTLSClient: Sendable {
    let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameter target: The port of the server with TLS.
    init(to target: Int) async throws {
        port = try FreePort.pick()
        folder = try TemporaryFolder("nginx-client")
        try folder.write(
            """
            load_module /usr/lib/nginx/modules/ngx_stream_module.so;
            daemon off;
            master_process off;
            pid nginx.pid;
            error_log error.log notice;
            events { worker_connections 16384; }
            stream {
                server {
                    listen 127.0.0.1:\(port) backlog=4096;
                    proxy_pass 127.0.0.1:\(target);
                    proxy_ssl on;
                    proxy_ssl_protocols TLSv1.3;
                    proxy_ssl_session_reuse off;
                }
            }
            """,
            to: "nginx.conf"
        )
        process = try ChildProcess(
            ["nginx", "-p", folder.path, "-e", "error.log", "-c", folder.file("nginx.conf")],
            environment: ["PATH": "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"],
            logFolder: folder.path
        )
        let (port, process) = (port, process)
        guard try await eventually(within: .seconds(5), { !process.isRunning || FreePort.isListening(port) }),
            process.isRunning
        else {
            process.end()
            throw ToolFailure("nginx does not listen", log: process.standardError)
        }
    }

    func stop() {
        process.end()
    }
}
