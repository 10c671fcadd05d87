import OutboundHTTP

/// A validated URL whose parts are safe to use in a request.
public struct EndpointAddress: Sendable, Hashable {
    /// The URL as given.
    public let text: String
    /// The target of requests to this URL.
    let target: OutboundTarget

    static let longest = 2048

    /// Parses a URL: `https://`, or `http://` if allowed, with host, optional port, path and query.
    ///
    /// - Throws: `invalid` with the rule that is violated.
    public init(_ text: String, allowsPlainHTTP: Bool) throws(WebhookFault) {
        guard (1...Self.longest).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Self.fault("must be 1 to \(Self.longest) printable ASCII characters")
        }
        guard let separator = text.firstRange(of: "://") else { throw Self.fault("must begin with https://") }
        let scheme = text[..<separator.lowerBound].lowercased()
        guard scheme == "https" || scheme == "http" else { throw Self.fault("must begin with https://") }
        let isSecure = scheme == "https"
        guard isSecure || allowsPlainHTTP else {
            throw Self.fault("must begin with https://; plain HTTP is not allowed")
        }
        let rest = text[separator.upperBound...]
        guard !rest.contains("#"), !rest.contains("\\") else {
            throw Self.fault("must have no fragment and no backslash")
        }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { throw Self.fault("must hold no credentials") }
        let (host, port) = try Self.split(authority, usualPort: isSecure ? 443 : 80)
        let tail = rest[end...]
        let path = tail.hasPrefix("/") ? String(tail) : "/" + tail
        target = OutboundTarget(isSecure: isSecure, host: host, port: Int(port), path: path)
        self.text = text
    }

    /// The URL for logs: scheme and host, without path and query, which may contain a secret.
    public var masked: String { "\(target.isSecure ? "https" : "http")://\(target.authority)/****" }

    private static func fault(_ rule: String) -> WebhookFault { .invalid(field: "url", rule: rule) }

    private static func split(
        _ authority: Substring,
        usualPort: UInt16
    ) throws(WebhookFault) -> (host: String, port: UInt16) {
        var host = authority
        var portText: Substring?
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { throw fault("has an IPv6 address without its end") }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let tail = authority[authority.index(after: close)...]
            guard tail.isEmpty || tail.first == ":", host.contains(":"),
                host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { throw fault("has a malformed host") }
            portText = tail.isEmpty ? nil : tail.dropFirst()
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                portText = authority[authority.index(after: colon)...]
            }
            guard isName(host) else { throw fault("has a malformed host") }
        }
        guard let portText else { return (String(host), usualPort) }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText), port > 0 else {
            throw fault("must have a port from 1 to 65535, or none")
        }
        return (String(host), port)
    }

    /// Whether a host consists of labels of 1 to 63 letters, digits, hyphens and underscores, at most 253 bytes in all.
    private static func isName(_ host: Substring) -> Bool {
        guard (1...253).contains(host.utf8.count) else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }
}

extension EndpointAddress: CustomStringConvertible {
    /// The masked URL.
    public var description: String { masked }
}

/// The result of resolving and checking a host name.
public enum VettedHost: Sendable, Equatable {
    /// Numeric addresses, all of which may be connected to.
    case addresses([String])
    /// At least one address may not be connected to.
    case forbidden
    /// The name has no address, or was not resolved in time.
    case notFound
}

/// Resolves a host within a number of seconds, and checks whether it may be connected to.
public typealias EndpointVetting =
    @Sendable (_ host: String, _ port: UInt16, _ seconds: Double) async -> VettedHost
