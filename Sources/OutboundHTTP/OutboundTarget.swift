import Foundation

/// The target of an outgoing request.
public struct OutboundTarget: Sendable, Hashable {
    /// Whether TLS is used.
    public var isSecure: Bool
    /// A host name or a literal address, IPv6 without brackets.
    public var host: String
    /// The TCP port.
    public var port: Int
    /// The path with the query; starts with a slash.
    public var path: String

    /// Makes a target from its parts.
    public init(isSecure: Bool, host: String, port: Int, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// The value of the `Host` header field.
    public var authority: String { authority(of: host) }

    /// The path with the query as a client sends it, with characters escaped that a URL may not have; nil if it is none.
    public var sentPath: String? {
        guard path.hasPrefix("/"), let parsed = URL(string: url),
            let parts = URLComponents(url: parsed, resolvingAgainstBaseURL: false)
        else { return nil }
        return parsed.query.map { "\(parts.percentEncodedPath)?\($0)" } ?? parts.percentEncodedPath
    }

    /// The URL with the host in lower case, as a URL parser may make it.
    var url: String { "\(isSecure ? "https" : "http")://\(authority(of: host.lowercased()))\(path)" }

    private func authority(of host: String) -> String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
