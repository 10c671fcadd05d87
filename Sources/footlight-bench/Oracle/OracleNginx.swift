import FootlightTesting
import Foundation
import FoundationNetworking
import Media
import Synchronization
import TestSupport

/// An nginx between players and a gateway: a cache with an access log stream, or a content network with a pushed log.
final class OracleNginx: Sendable {
    /// The port for players.
    let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// The source address of a cache's requests, which the gateway trusts as a proxy; players use 127.0.0.1.
    static let cacheAddress = "127.0.0.2"
    private static let networkAddress = "127.0.0.3"

    /// Starts a cache with the configuration of `deploy/nginx`, except for its ports and folders.
    ///
    /// - Parameters:
    ///   - gatewayPort: The gateway's HTTP port.
    ///   - accessLogPort: The gateway's port for access log lines.
    static func cache(gatewayPort: Int, accessLogPort: Int) async throws -> OracleNginx {
        let folder = try TemporaryFolder("oracle-cache")
        let port = try FreePort.pick()
        let changes = [
            "listen 80;": "listen 127.0.0.1:\(port) backlog=4096;",
            "server 127.0.0.1:8080;": "server 127.0.0.1:\(gatewayPort);",
            "syslog:server=127.0.0.1:15514": "syslog:server=127.0.0.1:\(accessLogPort)",
            "/var/cache/nginx/footlight": folder.file("cache"),
        ]
        let place = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("deploy/nginx/footlight-cache.conf")
        var site = try String(contentsOf: place, encoding: .utf8)
        for (old, new) in changes {
            guard site.contains(old) else { throw ToolFailure("the configuration of nginx has no \(old)") }
            site = site.replacing(old, with: new)
        }
        return try await OracleNginx("proxy_bind \(cacheAddress);\n" + site, port: port, folder: folder)
    }

    /// Starts a content network's server, which reports to the gateway only by its pushed log.
    ///
    /// - Parameters:
    ///   - gatewayPort: The gateway's HTTP port.
    ///   - token: The network's token with the role of a relay.
    static func network(gatewayPort: Int, token: String) async throws -> OracleNginx {
        let folder = try TemporaryFolder("oracle-network")
        let port = try FreePort.pick()
        let fields = [
            #""time":$msec"#, #""uri":"$request_uri""#, #""status":$status"#, #""method":"$request_method""#,
            #""ip":"$remote_addr""#, #""user_agent":"$http_user_agent""#, #""country":"FR""#,
        ]
        let site = """
            log_format network escape=json '{\(fields.joined(separator: ","))}';
            proxy_cache_path \(folder.file("cache")) levels=1:2 keys_zone=network:20m inactive=2m use_temp_path=off;
            upstream origin {
                server 127.0.0.1:\(gatewayPort);
                keepalive 64;
            }
            server {
                listen 127.0.0.1:\(port) backlog=4096;
                access_log \(folder.file("access.log")) network;
                proxy_bind \(networkAddress);
                proxy_http_version 1.1;
                proxy_set_header Connection "";
                proxy_set_header Host $http_host;
                proxy_set_header X-Forwarded-For $remote_addr;
                proxy_set_header X-Footlight-Relay "\(token)";
                proxy_cache_lock on;
                proxy_cache_use_stale updating;

                location ~ /index\\.m3u8$ {
                    proxy_pass http://origin;
                }
                location ~ \\.m3u8$ {
                    proxy_pass http://origin;
                    proxy_cache network;
                    proxy_cache_key "$uri|$arg__HLS_msn|$arg__HLS_part|$arg__HLS_skip";
                    proxy_cache_valid 200 1s;
                }
                location / {
                    proxy_pass http://origin;
                    proxy_cache network;
                    proxy_cache_key "$uri";
                    proxy_cache_valid 200 1m;
                }
            }
            """
        return try await OracleNginx(site, port: port, folder: folder)
    }

    /// The access log of a content network's server, with one line of JSON per request.
    var accessLog: String { folder.file("access.log") }

    private init(_ site: String, port: Int, folder: TemporaryFolder) async throws {
        self.port = port
        self.folder = folder
        let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \($0);" }
        try folder.write(
            """
            daemon off;
            user root;
            worker_processes 1;
            pid nginx.pid;
            error_log error.log crit;
            events { worker_connections 16384; }
            http {
                keepalive_requests 1000000000;
                \(scratch.joined(separator: "\n    "))
                \(site)
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
        let isUp = try await eventually(within: .seconds(5)) { !child.isRunning || FreePort.isListening(port) }
        guard isUp, child.isRunning else {
            let said = (try? String(contentsOfFile: folder.file("error.log"), encoding: .utf8)) ?? ""
            child.end()
            throw ToolFailure("nginx does not listen", log: child.standardError + said)
        }
    }

    /// Stops the server and closes all connections.
    func stop() {
        process.end()
    }
}

/// Pushes a content network's log to a gateway as such networks do: in gzip bundles, late, out of order, some twice,
/// and again after a failure.
final class OracleLogPush: Sendable {
    /// The results.
    struct Figures: Sendable {
        var bundles = 0
        var pushedTwice = 0
        /// Pushes that failed or were refused.
        var failures = 0
        /// Lines by the gateway's verdict on them.
        var lines: [String: Int] = [:]
    }

    private struct Bundle {
        var due: MonotonicTime
        /// The earliest time at which its first line may have been written.
        let began: MonotonicTime
        let body: Data
    }

    /// Seconds after which every line has been received and counted.
    static let longestLag = period + lateness.upperBound + 2

    /// Seconds of log per bundle.
    private static let period = 3.0
    /// Additional delay of a bundle in seconds.
    private static let lateness = 0.0...8.0
    /// The share of bundles that are pushed twice.
    private static let repeated = 0.2

    private let log: String
    private let url: URL
    private let token: String
    private let folder: TemporaryFolder
    private let figures = Mutex(Figures())
    private let delivered: Mutex<MonotonicTime>
    private let isStopped = Atomic(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts to push at once.
    ///
    /// - Parameters:
    ///   - log: The path of the network's access log.
    ///   - token: The network's token.
    init(_ log: String, to gateway: GatewayProcess, token: String) throws {
        guard let url = URL(string: "http://127.0.0.1:\(gateway.endpoints.httpPort)/v1/cdn-logs") else {
            throw ToolFailure("no address for logs")
        }
        self.log = log
        self.url = url
        self.token = token
        folder = try TemporaryFolder("oracle-log")
        delivered = Mutex(.now())
        task.withLock { $0 = Task { await self.run() } }
    }

    /// The time up to which the gateway has received every line.
    var deliveredUntil: MonotonicTime { delivered.withLock { $0 } }

    /// Pushes the remaining log, and returns the results.
    func finish() async -> Figures {
        isStopped.store(true, ordering: .relaxed)
        await task.withLock { $0 }?.value
        return figures.withLock { $0 }
    }

    private func run() async {
        guard let file = FileHandle(forReadingAtPath: log) else { return }
        defer { try? file.close() }
        var (rest, waiting) = (Data(), [Bundle]())
        var read = deliveredUntil
        var next = read.advanced(seconds: Self.period)
        while true {
            try? await Task.sleep(for: .milliseconds(100))
            let isLast = isStopped.load(ordering: .relaxed)
            let now = MonotonicTime.now()
            if now >= next || isLast {
                next = now.advanced(seconds: Self.period)
                rest += (try? file.readToEnd()) ?? Data()
                if let end = rest.lastIndex(of: 10) {
                    for wait in waits() {
                        let due = now.advanced(seconds: wait)
                        waiting.append(Bundle(due: due, began: read, body: Data(rest[...end])))
                    }
                    rest = Data(rest[(end + 1)...])
                }
                read = now
            }
            for index in waiting.indices.reversed() where waiting[index].due <= MonotonicTime.now() {
                if await push(waiting[index].body) {
                    waiting.remove(at: index)
                } else {
                    figures.withLock { $0.failures += 1 }
                    waiting[index].due = .now().advanced(seconds: 1)
                }
            }
            let oldest = waiting.map(\.began).min() ?? read
            delivered.withLock { $0 = oldest }
            if isLast, waiting.isEmpty { return }
        }
    }

    /// Returns the delay of each push of a bundle.
    private func waits() -> [Double] {
        let isTwice = Double.random(in: 0...1) < Self.repeated
        figures.withLock { figures in
            figures.bundles += 1
            if isTwice { figures.pushedTwice += 1 }
        }
        let first = Double.random(in: Self.lateness)
        return isTwice ? [first, first + .random(in: 1...8)] : [first]
    }

    /// - Returns: Whether the gateway accepted the bundle.
    private func push(_ body: Data) async -> Bool {
        guard let body = try? await compressed(body) else { return false }
        var request = URLRequest(url: url, timeoutInterval: 10)
        request.httpMethod = "POST"
        request.httpBody = body
        request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        guard let (data, response) = try? await URLSession.shared.data(for: request),
            (response as? HTTPURLResponse)?.statusCode == 200,
            let receipt = try? JSONDecoder().decode([String: Int].self, from: data)
        else { return false }
        figures.withLock { $0.lines.merge(receipt, uniquingKeysWith: +) }
        return true
    }

    private func compressed(_ body: Data) async throws -> Data {
        let path = folder.file("bundle")
        try body.write(to: URL(fileURLWithPath: path))
        try await ChildProcess.run(["gzip", "-f", path], within: .seconds(5))
        return try Data(contentsOf: URL(fileURLWithPath: path + ".gz"))
    }
}
