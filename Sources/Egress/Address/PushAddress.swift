import Glibc

/// A validated RTMP target, every part of which is safe to pass to librtmp.
///
/// librtmp parses options after a space in its URL (`swfUrl=`, `socks=` and others), so spaces, control characters,
/// credentials, fragments and other schemes are refused.
public struct PushAddress: Sendable, Equatable {
    /// The transport of the connection.
    public enum Scheme: String, Sendable, Equatable {
        case rtmp
        case rtmps
    }

    /// `rtmp` or `rtmps`.
    public let scheme: Scheme
    /// Name or literal address; an IPv6 literal without its brackets.
    public let host: String
    /// The TCP port.
    public let port: UInt16
    /// The application path, without a leading or trailing slash; may carry a query.
    public let application: String
    let streamKey: String

    static let longestURL = 1024
    static let longestKey = 512

    /// Parses and validates an address.
    ///
    /// - Parameters:
    ///   - url: `rtmp://` or `rtmps://`, host, optional port (1935, for rtmps 443), application path; up to 1024 bytes.
    ///   - streamKey: The stream's name at the target; printable ASCII, up to 512 bytes.
    /// - Throws: `invalidAddress` with the reason; the text never repeats the key.
    public init(url: String, streamKey: String) throws(PushError) {
        guard !url.isEmpty, url.utf8.count <= Self.longestURL else {
            throw PushError(.invalidAddress, "the URL must have 1 to \(Self.longestURL) bytes")
        }
        guard Self.isPlain(url) else {
            throw PushError(.invalidAddress, "the URL holds spaces, quotes or characters other than printable ASCII")
        }
        guard !streamKey.isEmpty, streamKey.utf8.count <= Self.longestKey else {
            throw PushError(.invalidAddress, "the stream key must have 1 to \(Self.longestKey) bytes")
        }
        guard Self.isPlain(streamKey) else {
            throw PushError(
                .invalidAddress,
                "the stream key holds spaces, quotes or characters other than printable ASCII"
            )
        }
        guard let separator = url.firstRange(of: "://"),
            let scheme = Scheme(rawValue: url[..<separator.lowerBound].lowercased())
        else { throw PushError(.invalidAddress, "the URL must begin with rtmp:// or rtmps://") }

        let rest = url[separator.upperBound...]
        guard let slash = rest.firstIndex(of: "/") else {
            throw PushError(.invalidAddress, "the URL has no application path")
        }
        let (host, port) = try Self.splitAuthority(rest[..<slash], scheme: scheme)
        let application = rest[rest.index(after: slash)...].trimming("/")
        guard !application.isEmpty else { throw PushError(.invalidAddress, "the URL has no application path") }
        guard !application.contains("#") else { throw PushError(.invalidAddress, "the URL has a fragment") }
        self.scheme = scheme
        self.host = host
        self.port = port
        self.application = String(application)
        self.streamKey = streamKey
    }

    /// The address for display and logs, without the query and everything after the application's first path element.
    public var masked: String {
        let parts = application.split(separator: "?", maxSplits: 1)
        let path = (parts.first ?? "").split(separator: "/")
        let visible = path.prefix(1).joined() + (path.count > 1 ? "/****" : "")
        return "\(scheme.rawValue)://\(hostInURL):\(port)/\(visible)\(parts.count > 1 ? "?****" : "")"
    }

    /// `****` and the last four characters; shorter keys show nothing.
    public var maskedStreamKey: String {
        streamKey.utf8.count >= 12 ? "****" + streamKey.suffix(4) : "****"
    }

    /// The address and application in the form of librtmp and the target's `tcUrl`, without the key.
    var applicationURL: String { "\(scheme.rawValue)://\(hostInURL):\(port)/\(application)" }

    private var hostInURL: String { host.contains(":") ? "[\(host)]" : host }

    private static func splitAuthority(
        _ authority: Substring,
        scheme: Scheme
    ) throws(PushError) -> (host: String, port: UInt16) {
        guard !authority.contains("@") else { throw PushError(.invalidAddress, "the URL holds credentials") }
        var host = authority
        var portText: Substring?
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else {
                throw PushError(.invalidAddress, "the URL's IPv6 address has no closing bracket")
            }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let tail = authority[authority.index(after: close)...]
            guard tail.isEmpty || tail.first == ":" else {
                throw PushError(.invalidAddress, "the URL's host is malformed")
            }
            portText = tail.isEmpty ? nil : tail.dropFirst()
            guard NetworkAddress(literal: String(host), port: 0)?.isIPv6 == true else {
                throw PushError(.invalidAddress, "the URL's IPv6 address is malformed")
            }
        } else {
            if let colon = authority.firstIndex(of: ":") {
                host = authority[..<colon]
                portText = authority[authority.index(after: colon)...]
            }
            guard isHostName(host) else { throw PushError(.invalidAddress, "the URL's host is malformed") }
        }
        guard let portText else { return (String(host), scheme == .rtmps ? 443 : 1935) }
        guard portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(portText), port > 0 else {
            throw PushError(.invalidAddress, "the URL's port must be a number from 1 to 65535")
        }
        return (String(host), port)
    }

    /// Letters, digits, hyphens, underscores and dots, labels of 1 to 63 bytes, 253 in all.
    private static func isHostName(_ host: Substring) -> Bool {
        guard !host.isEmpty, host.utf8.count <= 253 else { return false }
        let name = host.last == "." ? host.dropLast() : host
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.utf8.count)
                && label.utf8.allSatisfy {
                    switch $0 {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                        true
                    default: false
                    }
                }
        }
    }

    /// Whether `text` is printable ASCII without space, quotes and backslash, which librtmp parses as its own syntax.
    private static func isPlain(_ text: String) -> Bool {
        text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "\"") }
    }
}

extension PushAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The masked address.
    public var description: String { masked }

    /// The masked address.
    public var debugDescription: String { masked }

    /// A mirror without the stream key, for `dump` and test failures.
    public var customMirror: Mirror { Mirror(self, children: ["masked": masked]) }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> Substring {
        var text = self
        while text.first == character { text.removeFirst() }
        while text.last == character { text.removeLast() }
        return text
    }
}
