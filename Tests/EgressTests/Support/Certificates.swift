import Foundation

/// A certificate authority of the test's own, and server certificates made by it, right and wrong ones.
struct Certificates {
    let folder: TemporaryFolder
    var authority: String { folder.path("ca.pem") }

    init(in folder: TemporaryFolder) throws {
        self.folder = folder
        try openssl(
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key"]
                + ["-out", "ca.pem", "-subj", "/CN=Test authority", "-days", "2"]
        )
    }

    /// Makes `NAME.pem` and `NAME.key` for `host`; `days` of -1 is expired from the start.
    func issue(_ name: String, for host: String, days: Int = 2) throws {
        try request(name, host: host)
        try "subjectAltName=DNS:\(host)\n".write(toFile: folder.path("\(name).ext"), atomically: true, encoding: .utf8)
        try openssl([
            "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days",
            "\(days)", "-extfile", "\(name).ext", "-out", "\(name).pem",
        ])
    }

    /// Makes a certificate that vouches for itself.
    func selfSigned(_ name: String, for host: String) throws {
        try openssl(
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                "\(name).key",
            ]
                + [
                    "-out", "\(name).pem", "-subj", "/CN=\(host)", "-addext", "subjectAltName=DNS:\(host)", "-days",
                    "2",
                ]
        )
    }

    private func request(_ name: String, host: String) throws {
        try openssl(
            ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(name).key"]
                + ["-out", "\(name).csr", "-subj", "/CN=\(host)"]
        )
    }

    private func openssl(_ arguments: [String]) throws {
        try Tool.run("openssl", arguments, in: folder.url)
    }
}
