import FootlightTesting
import Foundation

/// An nginx between players and a gateway: a cache that reports to it, or a content network's.
final class OracleNginx: Sendable {
    /// Where players come.
    let port: Int
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Where a cache asks the gateway from; unlike players, who come from 127.0.0.1, it is believed whom it asks for.
    static let cacheAddress = "127.0.0.2"
    private static let networkAddress = "127.0.0.3"

    /// A cache with the configuration of `deploy/nginx` but for its ports and folders.
    ///
    /// - Parameters:
    ///   - gatewayPort: Where the gateway answers.
    ///   - beatsPort: Where it is told of playlists.
    static func cache(gatewayPort: Int, beatsPort: Int) async throws -> OracleNginx {
        let folder = try TemporaryFolder("oracle-cache")
        let port = try FreePort.pick()
        let changes = [
            "listen 80;": "listen 127.0.0.1:\(port) backlog=4096;",
            "server 127.0.0.1:8080;": "server 127.0.0.1:\(gatewayPort);",
            "syslog:server=127.0.0.1:15514": "syslog:server=127.0.0.1:\(beatsPort)",
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

    /// A server of a content network that tells the gateway nothing, but for its log.
    ///
    /// - Parameters:
    ///   - gatewayPort: Where the gateway answers.
    ///   - token: The network's, with the role of a relay.
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

    /// What players asked of a content network's server, a line of JSON for each request.
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

    /// Ends it, with all connections.
    func stop() {
        process.end()
    }
}
