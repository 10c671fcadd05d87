import Foundation
import NIOCore
import NIOPosix
import SwiftASN1
import TestSupport
import Testing
import X509

@testable import Gateway

@Suite("Doctor", .timeLimit(.minutes(1)))
struct DoctorTests {
    private let folder: TemporaryFolder
    private let configuration: GatewayConfiguration

    init() throws {
        folder = try TemporaryFolder("doctor")
        var configuration = GatewayConfiguration()
        configuration.dataDirectory = folder.file("data")
        (configuration.rtmpPort, configuration.httpPort, configuration.adminPort) = (0, 0, 0)
        self.configuration = configuration
    }

    private func findings(_ subject: String, _ configuration: GatewayConfiguration) async -> [Doctor.Finding] {
        await Doctor(configuration).run().filter { $0.subject == subject }
    }

    @Test("finds no problem in the defaults on this machine, and makes no data folder")
    func defaults() async {
        let findings = await Doctor(configuration).run()
        #expect(findings.filter { $0.level == .problem }.isEmpty, "\(findings)")
        for subject in ["settings", "ports", "data folder", "open files", "clock", "codecs", "fonts", "confinement"] {
            #expect(findings.contains { $0.subject == subject }, "\(subject)")
        }
        #expect(findings.allSatisfy { ($0.level == .ok) == ($0.advice == nil) })
        #expect(!FileManager.default.fileExists(atPath: configuration.dataDirectory))
    }

    @Test("names a port that another program uses, with its setting")
    func ports() async throws {
        let other = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        var configuration = configuration
        configuration.httpPort = try #require(other.localAddress?.port)
        let found = await findings("ports", configuration)
        #expect(found.map(\.level) == [.problem])
        #expect(found.first?.text.contains("\(configuration.httpPort)") == true)
        #expect(found.first?.advice?.contains("http.port") == true)
        try await other.close()
        #expect(await findings("ports", configuration).map(\.level) == [.ok])
        configuration.host = "192.0.2.1"
        #expect(await findings("ports", configuration).allSatisfy { $0.level == .problem })
    }

    @Test("does not check the ports of a gateway that runs with the data folder")
    func running() async throws {
        let lock = try DataDirectoryLock(DataDirectory(configuration.dataDirectory))
        let found = await findings("ports", configuration)
        withExtendedLifetime(lock) {
            #expect(found.first?.text.contains("\(ProcessInfo.processInfo.processIdentifier)") == true, "\(found)")
        }
    }

    @Test("warns of a data folder that others can read, and refuses a file in its place")
    func dataFolder() async throws {
        let path = configuration.dataDirectory
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        #expect(await findings("data folder", configuration).map(\.level) == [.warning])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        #expect(await findings("data folder", configuration).map(\.level) == [.ok])
        var other = configuration
        other.dataDirectory = try folder.write("", to: "file")
        #expect(await findings("data folder", other).map(\.level) == [.problem])
    }

    @Test("names unknown settings, and outputs that cannot be reached")
    func settingsAndOutputs() async throws {
        var configuration = configuration
        configuration.unknownKeys = ["rtmp.prot"]
        #expect(await findings("settings", configuration).map(\.level) == [.problem])
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(server.localAddress?.port)
        let doctor = Doctor(configuration)
        #expect(await doctor.reachability(of: "rtmp://127.0.0.1:\(port)/live").level == .ok)
        try await server.close()
        #expect(await doctor.reachability(of: "rtmp://127.0.0.1:\(port)/live").level == .problem)
        #expect(await doctor.reachability(of: "https://example.test").level == .problem)
    }

    // MARK: Certificates

    /// Checks the certificate `name` for `host` as a machine does that trusts the test's authority alone.
    private func check(
        _ certificates: TestCertificates,
        _ name: String,
        key: String? = nil,
        for host: String? = nil,
        in days: Double = 0
    ) async throws -> [Doctor.Finding] {
        var configuration = GatewayConfiguration()
        configuration.tlsCertificate = certificates.path("\(name).pem")
        configuration.tlsKey = certificates.path("\(key ?? name).key")
        let authority = try String(contentsOfFile: certificates.authority, encoding: .utf8)
        var check = CertificateCheck(paths: try #require(CertificatePaths(configuration)), name: host)
        check.roots = CertificateStore([try Certificate(pemEncoded: authority)])
        check.now = Date().addingTimeInterval(days * 86_400)
        return await check.findings()
    }

    @Test("verifies the dates, the name, the chain and the key of a certificate")
    func certificate() async throws {
        let certificates = try await TestCertificates(in: folder.path)
        try await certificates.issue("good", for: "live.example", days: 90)
        try await certificates.selfSigned("own", for: "live.example")
        let good = try await check(certificates, "good", for: "live.example")
        #expect(good.map(\.level) == [.ok, .ok, .ok], "\(good)")
        #expect(try await check(certificates, "good", for: "other.example").map(\.level) == [.ok, .problem, .ok])
        try await certificates.issue("wide", for: "*.example", days: 90)
        #expect(try await check(certificates, "wide", for: "live.example").map(\.level) == [.ok, .ok, .ok])
        #expect(try await check(certificates, "wide", for: "a.live.example").map(\.level) == [.ok, .problem, .ok])
        #expect(try await check(certificates, "good", in: 80).map(\.level) == [.warning, .ok])
        #expect(try await check(certificates, "good", in: 91).map(\.level) == [.problem, .ok])
        #expect(try await check(certificates, "good", in: -1).map(\.level) == [.problem, .ok])
        // Valid for two days, and vouched for by nobody else.
        #expect(try await check(certificates, "own", for: "live.example").map(\.level) == [.warning, .ok, .warning])
        let mixed = try await check(certificates, "good", key: "own")
        #expect(mixed.map(\.level) == [.problem])
        #expect(mixed.first?.text.contains("tls.key") == true)
        #expect(try await check(certificates, "absent", key: "own").map(\.level) == [.problem])
        try folder.write("no certificate", to: "text.pem")
        #expect(try await check(certificates, "text", key: "own").map(\.level) == [.problem])
    }
}
