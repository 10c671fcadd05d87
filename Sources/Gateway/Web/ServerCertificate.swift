import Foundation
import Logging
import NIOSSL
import ServiceLifecycle
import Synchronization

/// The certificate of the gateway, which new connections by HTTPS and RTMPS are given.
///
/// `CertificateService` replaces it when its files change; open connections keep theirs. Any thread.
final class ServerCertificate: Sendable {
    private struct State {
        var paths: CertificatePaths
        var files: CertificateFiles
        var contexts: TLSContexts
    }

    private let state: Mutex<State>

    /// Loads a certificate chain and its key.
    ///
    /// - Throws: `ConfigurationError` naming the file that cannot be used.
    init(_ paths: CertificatePaths) throws {
        let files = try CertificateFiles(paths)
        state = Mutex(State(paths: paths, files: files, contexts: try files.contexts(of: paths)))
    }

    /// The TLS context for HTTPS, which negotiates HTTP/2 or HTTP/1.1 (RFC 7301).
    var https: NIOSSLContext { state.withLock(\.contexts.https) }

    /// The TLS context for RTMPS.
    var rtmps: NIOSSLContext { state.withLock(\.contexts.rtmps) }

    /// The time at which the certificate expires.
    var expiry: Date { state.withLock(\.contexts.expiry) }

    /// The host names that the certificate is for.
    var names: [String] { CertificateCheck.names(ofChain: state.withLock(\.files.chain)) }

    /// Takes other files, which the next `reload()` loads.
    func use(_ paths: CertificatePaths) {
        state.withLock { $0.paths = paths }
    }

    /// Loads the files again if they have changed; blocks.
    ///
    /// - Returns: Whether there is a new certificate.
    /// - Throws: `ConfigurationError` if the files cannot be used; the former certificate stays.
    func reload() throws -> Bool {
        let paths = state.withLock(\.paths)
        let found = try CertificateFiles(paths)
        guard found != state.withLock(\.files) else { return false }
        let contexts = try found.contexts(of: paths)
        state.withLock { state in
            state.files = found
            state.contexts = contexts
        }
        return true
    }
}

/// The paths of a certificate chain and its private key, both PEM.
struct CertificatePaths: Sendable {
    let chain: String
    let key: String

    /// Takes the paths from the configuration; nil without both.
    init?(_ configuration: GatewayConfiguration) {
        guard let chain = configuration.tlsCertificate, let key = configuration.tlsKey else { return nil }
        self.chain = chain
        self.key = key
    }
}

/// The TLS contexts made from one certificate.
struct TLSContexts: Sendable {
    let https: NIOSSLContext
    let rtmps: NIOSSLContext
    let expiry: Date
}

/// The content of a certificate's files.
struct CertificateFiles: Equatable, Sendable {
    /// The certificate chain in PEM form.
    let chain: Data
    private let key: Data

    /// Reads the files; blocks.
    init(_ paths: CertificatePaths) throws(ConfigurationError) {
        chain = try Self.read(paths.chain, "tls.certificate")
        key = try Self.read(paths.key, "tls.key")
    }

    private static func read(_ path: String, _ setting: String) throws(ConfigurationError) -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ConfigurationError(key: setting, problem: "cannot be read: \(path)")
        }
    }

    /// Makes the TLS contexts.
    ///
    /// - Throws: `ConfigurationError` if a file is no PEM, or if the key is not that of the certificate.
    func contexts(of paths: CertificatePaths) throws(ConfigurationError) -> TLSContexts {
        let certificates: [NIOSSLCertificate]
        do {
            certificates = try NIOSSLCertificate.fromPEMBytes(Array(chain))
        } catch {
            throw ConfigurationError(key: "tls.certificate", problem: "is no certificate in PEM form: \(paths.chain)")
        }
        guard let leaf = certificates.first else {
            throw ConfigurationError(key: "tls.certificate", problem: "has no certificate: \(paths.chain)")
        }
        let privateKey: NIOSSLPrivateKey
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(key), format: .pem)
        } catch {
            throw ConfigurationError(key: "tls.key", problem: "is no private key in PEM form: \(paths.key)")
        }
        do {
            let expiry = Date(timeIntervalSince1970: Double(leaf.notValidAfter))
            var tls = TLSConfiguration.makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) },
                privateKey: .privateKey(privateKey)
            )
            tls.minimumTLSVersion = .tlsv12
            let rtmps = try NIOSSLContext(configuration: tls)
            tls.applicationProtocols = ["h2", "http/1.1"]
            return TLSContexts(https: try NIOSSLContext(configuration: tls), rtmps: rtmps, expiry: expiry)
        } catch {
            throw ConfigurationError(key: "tls.key", problem: "is not the key of the certificate: \(paths.key)")
        }
    }
}

/// Loads the certificate again when its files change, as an ACME client changes them.
struct CertificateService: Service {
    /// Seconds between two looks at the files.
    static let interval = 5.0

    let certificate: ServerCertificate
    let directory: DataDirectory
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var problem: String?
            while !Task.isCancelled {
                // Cancellation ends the sleep and, with it, the loop.
                try? await Task.sleep(for: .seconds(Self.interval), tolerance: .milliseconds(500))
                do {
                    let isNew = try await directory.onQueue { try certificate.reload() }
                    problem = nil
                    if isNew {
                        logger.notice(
                            "certificate loaded",
                            metadata: ["expires": "\(certificate.expiry.formatted(.iso8601))"]
                        )
                    }
                } catch {
                    // A client may be between the two files; what persists is logged once.
                    if problem != "\(error)" {
                        logger.warning("changed certificate cannot be used", metadata: ["reason": "\(error)"])
                    }
                    problem = "\(error)"
                }
            }
        }
    }
}
