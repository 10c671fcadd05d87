import Foundation

/// A certificate authority of the test's own, and server certificates made by it, right and wrong ones; by OpenSSL.
public struct TestCertificates: Sendable {
    private static let ellipticKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]

    private let folder: String

    /// The certificate of the authority, PEM.
    public var authority: String { path("ca.pem") }

    /// Makes the authority.
    ///
    /// - Parameter folder: The path of an existing folder for all files.
    public init(in folder: String) async throws {
        self.folder = folder
        try await openssl(
            ["req", "-x509"] + Self.ellipticKey
                + ["-keyout", path("ca.key"), "-out", authority, "-subj", "/CN=Test authority", "-days", "2"]
        )
    }

    /// Returns the path of a file in the folder.
    public func path(_ name: String) -> String { folder + "/" + name }

    /// Makes `NAME.pem` and `NAME.key`, valid for `host` and for 127.0.0.1.
    ///
    /// - Parameter days: The days of validity; -1 is expired from the start.
    public func issue(_ name: String, for host: String, days: Int = 2) async throws {
        let (key, request, certificate) = (path("\(name).key"), path("\(name).csr"), path("\(name).pem"))
        try await openssl(
            ["req"] + Self.ellipticKey + ["-keyout", key, "-out", request, "-subj", "/CN=\(host)"]
        )
        let names = path("\(name).ext")
        try "subjectAltName=DNS:\(host),IP:127.0.0.1\n".write(toFile: names, atomically: true, encoding: .utf8)
        try await openssl([
            "x509", "-req", "-in", request, "-CA", authority, "-CAkey", path("ca.key"), "-CAcreateserial", "-days",
            "\(days)", "-extfile", names, "-out", certificate,
        ])
    }

    /// Makes `NAME.pem` and `NAME.key`, a certificate that vouches for itself.
    public func selfSigned(_ name: String, for host: String) async throws {
        try await openssl(
            ["req", "-x509"] + Self.ellipticKey
                + ["-keyout", path("\(name).key"), "-out", path("\(name).pem"), "-subj", "/CN=\(host)"]
                + ["-addext", "subjectAltName=DNS:\(host),IP:127.0.0.1", "-days", "2"]
        )
    }

    private func openssl(_ arguments: [String]) async throws {
        try await ChildProcess.run(["openssl"] + arguments, within: .seconds(20))
    }
}
