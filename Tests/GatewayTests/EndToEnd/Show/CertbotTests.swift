import FootlightTesting
import Foundation
import TestSupport
import Testing

@Suite("Certificates by ACME", .enabled(if: TestRun.isFull), .serialized, .timeLimit(.minutes(2)))
struct CertbotTests {
    private static let host = "show.example.test"

    /// An ACME server with a name server that knows every name as this machine.
    private struct Authority {
        let server: ChildProcess
        let names: ChildProcess
        let certificates: TestCertificates
        let port: Int

        /// - Parameter httpPort: The port at which challenges are looked for.
        init(in folder: TemporaryFolder, httpPort: Int) async throws {
            certificates = try await TestCertificates(in: folder.path)
            try await certificates.issue("acme", for: "localhost")
            port = try FreePort.pick()
            let (management, dns) = (try FreePort.pick(), try FreePort.pick())
            names = try ChildProcess([
                "pebble-challtestsrv", "-dns01", "127.0.0.1:\(dns)", "-management", "127.0.0.1:\(management)",
                "-http01", "", "-https01", "", "-tlsalpn01", "", "-defaultIPv4", "127.0.0.1",
                "-defaultIPv6", "",
            ])
            let other = try FreePort.pick()
            let settings: JSONValue = [
                "pebble": [
                    "listenAddress": .string("127.0.0.1:\(port)"),
                    "managementListenAddress": .string("127.0.0.1:\(other)"),
                    "certificate": .string(certificates.path("acme.pem")),
                    "privateKey": .string(certificates.path("acme.key")),
                    "httpPort": .number(Double(httpPort)), "tlsPort": .number(Double(httpPort)),
                ]
            ]
            server = try ChildProcess(
                [
                    "pebble", "-config", folder.write(settings.text, to: "pebble.json"), "-dnsserver",
                    "127.0.0.1:\(dns)",
                ],
                environment: ["PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"]
            )
            let (port, server) = (port, server)
            guard try await eventually({ FreePort.isListening(port) }) else {
                throw ToolFailure("pebble does not listen", log: server.standardError + server.standardOutput)
            }
        }
    }

    @Test("certbot gets a certificate by the HTTP port, and a renewed one reaches new connections")
    func issueAndRenew() async throws {
        let folder = try TemporaryFolder("acme")
        let webroot = folder.file("webroot")
        try FileManager.default.createDirectory(atPath: webroot, withIntermediateDirectories: true)
        let gateway = try await GatewayProcess(environment: ["FOOTLIGHT_TLS_CHALLENGE_DIR": webroot])
        let authority = try await Authority(in: folder, httpPort: gateway.endpoints.httpPort)
        defer {
            authority.server.end()
            authority.names.end()
        }
        func certbot(_ arguments: [String]) async throws {
            let child = try ChildProcess(
                ["certbot"] + arguments + [
                    "--server", "https://localhost:\(authority.port)/dir", "--config-dir", folder.file("config"),
                    "--work-dir", folder.file("work"), "--logs-dir", folder.file("logs"), "-n",
                ],
                environment: ["REQUESTS_CA_BUNDLE": authority.certificates.authority]
            )
            try await child.waitForSuccess(.seconds(60))
        }
        try await certbot([
            "certonly", "--webroot", "--webroot-path", webroot, "-d", Self.host, "--agree-tos",
            "--register-unsafely-without-email",
        ])
        #expect(try await gateway.terminate() == .code(0))

        // The same ports, so that the challenge of the renewal finds the gateway.
        let live = folder.file("config/live/\(Self.host)")
        let secured = try await GatewayProcess(
            arguments: ["--http-port", "\(gateway.endpoints.httpPort)"],
            environment: [
                "FOOTLIGHT_TLS_CHALLENGE_DIR": webroot, "FOOTLIGHT_HTTPS_PORT": "0",
                "FOOTLIGHT_HTTPS_REDIRECT": "true", "FOOTLIGHT_TLS_CERTIFICATE": live + "/fullchain.pem",
                "FOOTLIGHT_TLS_KEY": live + "/privkey.pem",
            ]
        )
        let first = try await certificate(of: secured)
        #expect(first.contains("DNS:\(Self.host)"), "\(first)")
        try await certbot(["renew", "--force-renewal", "--no-random-sleep-on-renew"])
        let isRenewed = try await eventually(within: .seconds(10), every: .milliseconds(250)) {
            try await certificate(of: secured) != first
        }
        #expect(isRenewed)
    }

    @Test("answers only tokens, from the folder alone")
    func tokens() async throws {
        let folder = try TemporaryFolder("challenges")
        let challenges = folder.file("root/.well-known/acme-challenge")
        try FileManager.default.createDirectory(atPath: challenges, withIntermediateDirectories: true)
        try folder.write("abc.thumbprint", to: "root/.well-known/acme-challenge/abc")
        try folder.write("secret", to: "secret")
        try folder.write(String(repeating: "a", count: 2_000), to: "root/.well-known/acme-challenge/long")
        let gateway = try await GatewayProcess(environment: ["FOOTLIGHT_TLS_CHALLENGE_DIR": folder.file("root")])
        let port = gateway.endpoints.httpPort
        let found = try await gateway.request("GET", port: port, "/.well-known/acme-challenge/abc")
        #expect(found.status == 200 && found.text == "abc.thumbprint")
        for name in ["abd", "long", "..%2F..%2F..%2Fsecret", "%2e%2e", String(repeating: "a", count: 200)] {
            let answer = try await gateway.request("GET", port: port, "/.well-known/acme-challenge/\(name)")
            #expect(answer.status == 404 && !answer.text.contains("secret"), "\(name)")
        }
    }

    /// Serial number and names of the certificate that a new connection gets.
    private func certificate(of gateway: GatewayProcess) async throws -> String {
        let port = try #require(gateway.endpoints.httpsPort)
        let script = """
            openssl s_client -connect localhost:\(port) -servername \(Self.host) </dev/null 2>/dev/null |
            openssl x509 -noout -serial -ext subjectAltName
            """
        return try await ChildProcess.run(["/bin/sh", "-c", script], within: .seconds(10))
    }
}
