import FootlightTesting
import Foundation
import NIOCore
import NIOPosix
import Synchronization
import TestSupport

/// An nginx with the configuration of `deploy/nginx`, with other ports and folders.
final class NginxCache: Sendable {
    let port: Int
    private let folder: TemporaryFolder
    private let process = Mutex<ChildProcess?>(nil)

    /// Starts nginx and waits until it listens.
    ///
    /// - Parameters:
    ///   - gatewayPort: The gateway's HTTP port.
    ///   - accessLogPort: The gateway's UDP port for access log lines.
    init(gatewayPort: Int, accessLogPort: Int) async throws {
        port = try FreePort.pick()
        folder = try TemporaryFolder("cache")
        let changes = [
            "listen 80;": "listen 127.0.0.1:\(port);",
            "server 127.0.0.1:8080;": "server 127.0.0.1:\(gatewayPort);",
            "syslog:server=127.0.0.1:15514": "syslog:server=127.0.0.1:\(accessLogPort)",
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

    /// The error log.
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

    /// Stops nginx and closes all connections.
    func stop() {
        process.withLock { process in
            process?.end()
            process = nil
        }
    }
}

/// Relays nginx's syslog lines, counts them, and drops some.
final class SyslogRelay: Sendable {
    struct Passed: Sendable {
        /// The received lines.
        var lines = 0
        /// The dropped lines.
        var lost = 0
        /// The lines by cache status: `HIT`, `MISS`, `EXPIRED` and so on.
        var byCache: [String: Int] = [:]

        /// The requests that nginx forwarded to the gateway.
        var reachedGateway: Int { lines - ["HIT", "STALE", "UPDATING"].reduce(0) { $0 + (byCache[$1] ?? 0) } }
    }

    /// The counters, and the interval of dropped lines; nil drops none, 1 drops all.
    private struct State {
        var passed = Passed()
        var loss: Int?

        /// Counts a line; returns whether to forward it.
        mutating func shouldForward(_ line: String) -> Bool {
            passed.lines += 1
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\n" })
            // SID URI STATUS BYTES SECONDS CACHE, optionally with a further word.
            if let place = words.firstIndex(where: { $0.hasPrefix("/live/") }), words.count > place + 4 {
                passed.byCache[String(words[place + 4]), default: 0] += 1
            }
            guard let loss, passed.lines.isMultiple(of: loss) else { return true }
            passed.lost += 1
            return false
        }
    }

    private final class Shared: Sendable {
        let state = Mutex(State())
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = AddressedEnvelope<ByteBuffer>
        typealias OutboundOut = AddressedEnvelope<ByteBuffer>

        private let shared: Shared
        private let target: SocketAddress

        init(_ shared: Shared, _ target: SocketAddress) {
            self.shared = shared
            self.target = target
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let line = unwrapInboundIn(data).data
            guard shared.state.withLock({ $0.shouldForward(String(buffer: line)) }) else { return }
            context.writeAndFlush(wrapOutboundOut(AddressedEnvelope(remoteAddress: target, data: line)), promise: nil)
        }
    }

    /// The UDP port for nginx.
    let port: Int
    private let shared: Shared
    private let channel: any Channel

    /// - Parameter gatewayPort: The gateway's UDP port.
    init(to gatewayPort: Int, group: any EventLoopGroup) async throws {
        let shared = Shared()
        let target = try SocketAddress(ipAddress: "127.0.0.1", port: gatewayPort)
        self.shared = shared
        channel = try await DatagramBootstrap(group: group)
            .channelOption(.socketOption(.so_rcvbuf), value: 4 * 1024 * 1024)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Handler(shared, target))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    var passed: Passed { shared.state.withLock { $0.passed } }

    /// Drops one in `number` lines from now on; nil drops none.
    func lose(oneIn number: Int?) {
        shared.state.withLock { $0.loss = number }
    }

    func close() async throws {
        try await channel.close()
    }
}
