import Foundation
import Media
import Stage
import TestSupport
import Testing

@testable import Egress

@Suite("A push over TLS", .enabled(if: TestRun.isFull), .serialized)
struct SecurePushTests {
    private static let host = "push.example.test"
    private let sample: Sample
    private let nginx: Nginx
    private let authority: String
    private let ports: [String: UInt16]

    init() async throws {
        sample = try Sample.shared.get()
        var ports: [String: UInt16] = [:]
        for name in ["right", "wrong", "own", "expired"] { ports[name] = try Port.free() }
        self.ports = ports
        let servers = ports.map { name, port in
            """
            server {
                listen 127.0.0.1:\(port) ssl; ssl_certificate FOLDER/\(name).pem; ssl_certificate_key FOLDER/\(name).key;
                proxy_pass 127.0.0.1:RTMP;
            }
            """
        }
        let stream = """
            stream {
                ssl_protocols TLSv1.2 TLSv1.3;
                log_format names '$ssl_server_name $ssl_protocol'; access_log FOLDER/names.log names;
                \(servers.joined(separator: "\n"))
            }
            """
        // The RTMP server's port is known only once it is made.
        let inner = try Nginx()
        nginx = try Nginx(
            more: stream.replacingOccurrences(of: "RTMP", with: "\(inner.port)"),
            modules: ["ngx_stream_module.so"]
        )
        target = inner
        let certificates = try await TestCertificates(in: nginx.folder.url.path)
        try await certificates.issue("right", for: Self.host)
        try await certificates.issue("wrong", for: "other.example.test")
        try await certificates.selfSigned("own", for: Self.host)
        try await certificates.issue("expired", for: Self.host, days: -1)
        authority = certificates.authority
        try target.start()
        try nginx.start(waitingFor: Array(ports.values))
    }

    private let target: Nginx

    private func push(to server: String, key: String) throws -> PushFixture {
        var configuration = PushFixture.quick
        configuration.trustFile = authority
        configuration.resolve = { _, port, _ throws(PushError) in
            [NetworkAddress(ipv4: (127, 0, 0, 1), port: port)]
        }
        let port = try #require(ports[server])
        return try PushFixture(
            server,
            url: "rtmps://\(Self.host):\(port)/live",
            key: key,
            configuration: configuration
        )
    }

    @Test("a trusted server gets every frame, and was asked for by its name")
    func trusted() throws {
        let fixture = try push(to: "right", key: "key-tls")
        let broadcast = Broadcast(sample.packets, to: [fixture.push], rounds: 1)
        #expect(fixture.waitFor(.connected) != nil, "\(fixture.push.status)")
        broadcast.waitForEnd(seconds: 8)
        usleep(300_000)
        #expect(fixture.end() < 1)
        usleep(300_000)
        #expect(try Sample.hashes(of: target.recording("key-tls")) == sample.frames)
        #expect(fixture.history.map { $0.state } == [.connecting, .connected, .stopped])
        #expect(nginx.log("names.log").contains("\(Self.host) TLSv1.3"))
    }

    @Test("a server with another host's certificate is refused", arguments: ["wrong"])
    func wrongName(server: String) throws {
        try expectRefusal(of: server, saying: "name")
    }

    @Test("a server that vouches for itself is refused")
    func selfSigned() throws {
        try expectRefusal(of: "own", saying: "issuer")
    }

    @Test("a server with an expired certificate is refused")
    func expired() throws {
        try expectRefusal(of: "expired", saying: "expired")
    }

    private func expectRefusal(of server: String, saying word: String) throws {
        let fixture = try push(to: server, key: "key-\(server)")
        let broadcast = Broadcast(sample.packets, to: [fixture.push])
        defer { broadcast.end() }
        let failed = try #require(fixture.waitFor(.failed))
        print("\(server): \(failed.lastError ?? "-")")
        #expect(failed.lastError?.contains(word) == true)
        #expect(failed.bytesSent == 0)
        #expect(!FileManager.default.fileExists(atPath: target.recording("key-\(server)")))
    }
}
