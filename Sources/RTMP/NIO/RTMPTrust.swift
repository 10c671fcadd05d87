import NIOSSL

/// Whom a client believes to be the server it asked for, when it connects by RTMPS.
public enum RTMPTrust: Sendable, Hashable {
    /// Whoever the machine trusts.
    case system
    /// Whoever is certified by one of the certificates in this PEM file; for servers that certify themselves.
    case certificates(path: String)

    /// The TLS settings that say so; reads files.
    func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if case .certificates(let path) = self { configuration.trustRoots = .file(path) }
        return try NIOSSLContext(configuration: configuration)
    }
}
