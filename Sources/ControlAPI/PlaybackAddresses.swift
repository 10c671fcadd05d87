import HTTPTypes
import Hummingbird
import Stage

/// The addresses where the gateway listens, for the URLs in its responses.
///
/// A client that came by HTTPS is given URLs with TLS where the gateway has such ports, and one that came in clear is
/// given the ports in clear, which may be all that a proxy or a firewall in front leaves open.
public struct PlaybackAddresses: Sendable, Hashable {
    /// The bound host, used if a request does not name one.
    public var host: String
    /// The HTTP port.
    public var httpPort: Int
    /// The RTMP port.
    public var rtmpPort: Int
    /// The HTTPS port; nil if there is none.
    public var httpsPort: Int?
    /// The RTMPS port; nil if there is none.
    public var rtmpsPort: Int?
    /// The address by which everyone reaches the gateway by HTTP, such as `https://live.example`, without a slash at
    /// its end; nil for the host and port of each request.
    public var publicURL: String?
    /// Whether the addresses are those of a client.
    private var isReached = false
    /// Whether the client came by HTTPS to the gateway itself.
    private var isSecure = false
    /// The host and port of a proxy to which the client came by HTTPS; nil if there is none.
    private var secureProxy: String?

    /// Creates addresses from the bound host and ports.
    public init(
        host: String,
        httpPort: Int,
        rtmpPort: Int,
        httpsPort: Int? = nil,
        rtmpsPort: Int? = nil,
        publicURL: String? = nil
    ) {
        self.publicURL = publicURL
        self.host = host
        self.httpPort = httpPort
        self.rtmpPort = rtmpPort
        self.httpsPort = httpsPort
        self.rtmpsPort = rtmpsPort
    }

    /// Returns the addresses for a client.
    ///
    /// - Parameters:
    ///   - authority: The `Host` of its request; nil if it named none.
    ///   - isSecure: Whether it came by HTTPS to the gateway itself.
    ///   - isSecureProxy: Whether it came by HTTPS to a proxy in front, which passed its `Host` on. URLs of HTTP then
    ///     have the proxy's port, and those of RTMP the gateway's.
    func reached(by authority: String?, isSecure: Bool, isSecureProxy: Bool = false) -> PlaybackAddresses {
        var addresses = self
        addresses.isReached = true
        if let publicURL {
            addresses.host = publicHost ?? host
            addresses.isSecure = publicURL.hasPrefix("https://")
            return addresses
        }
        let name = HostHeader.parse(authority)
        addresses.host = name ?? host
        addresses.isSecure = isSecure
        if isSecureProxy, let name {
            let port = authority.flatMap { UInt16($0.dropFirst(name.count).drop { $0 == ":" }) }
            addresses.secureProxy = name + (port.map { $0 == 443 ? "" : ":\($0)" } ?? "")
        }
        return addresses
    }

    /// The RTMP server URL for encoders.
    var ingest: String { rtmpBase + "/live" }

    /// The RTMPS server URL for encoders; nil if the gateway has no RTMPS port.
    var secureIngest: String? { rtmpsPort.map { "rtmps://\(host):\($0)/live" } }

    func hls(_ room: String) -> String { "\(httpBase)/live/\(room)/index.m3u8" }

    func flv(_ room: String) -> String { "\(httpBase)/live/\(room).flv" }

    func rtmp(_ room: String) -> String { "\(rtmpBase)/live/\(room)" }

    func api(_ path: String) -> String { "\(httpBase)/v1/\(path)" }

    func watch(_ room: String) -> String { "\(httpBase)/watch/\(room)" }

    /// The page that explains an error; only its path where there is neither a client nor a public address.
    func page(of error: StageError) -> String {
        let path = "/docs/errors/\(error.code)"
        return isReached || publicURL != nil ? httpBase + path : path
    }

    /// The host of the public address.
    private var publicHost: String? {
        let rest = publicURL?.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).last
        return HostHeader.parse(rest.map { String($0.prefix { $0 != "/" }) })
    }

    private var httpBase: String {
        if let publicURL { return publicURL }
        if let secureProxy { return "https://\(secureProxy)" }
        return if isSecure, let httpsPort { "https://\(host):\(httpsPort)" } else { "http://\(host):\(httpPort)" }
    }

    private var rtmpBase: String {
        if isSecure, let rtmpsPort { "rtmps://\(host):\(rtmpsPort)" } else { "rtmp://\(host):\(rtmpPort)" }
    }
}

extension PlaybackAddresses {
    /// Returns the addresses for the client of a request.
    func reached(by request: Request) -> PlaybackAddresses {
        reached(
            by: request.head.authority,
            isSecure: request.head.scheme == "https",
            // Of a proxy that is trusted; the field of any other client is removed on the way here.
            isSecureProxy: request.headers[.forwardedProto]?.lowercased() == "https"
        )
    }
}

extension HTTPField.Name {
    // The name is a valid token, so the default is never used.
    fileprivate static let forwardedProto = Self("X-Forwarded-Proto") ?? .via
}

/// The host by which a client reached the gateway, from its `Host` header (RFC 9110 section 7.2).
public enum HostHeader {
    /// Returns the name or address without the port; nil if it contains characters that are not allowed in an
    /// authority.
    public static func parse(_ authority: String?) -> String? {
        guard let authority, !authority.isEmpty, authority.utf8.count <= 255 else { return nil }
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            let inside = authority[authority.index(after: authority.startIndex)..<end]
            guard !inside.isEmpty, inside.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
            return String(authority[...end])
        }
        let name = authority.prefix { $0 != ":" }
        let isName = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default:
                false
            }
        }
        return isName && !name.isEmpty ? String(name) : nil
    }
}
