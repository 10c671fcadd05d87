/// The addresses where the gateway listens, for the URLs in its responses.
public struct PlaybackAddresses: Sendable, Hashable {
    /// The bound host, used if a request does not name one.
    public var host: String
    /// The HTTP port.
    public var httpPort: Int
    /// The RTMP port.
    public var rtmpPort: Int

    /// Creates addresses from the bound host and ports.
    public init(host: String, httpPort: Int, rtmpPort: Int) {
        self.host = host
        self.httpPort = httpPort
        self.rtmpPort = rtmpPort
    }

    /// Returns the same ports with the host by which a client reached the gateway.
    func replacingHost(by name: String?) -> PlaybackAddresses {
        guard let name else { return self }
        return PlaybackAddresses(host: name, httpPort: httpPort, rtmpPort: rtmpPort)
    }

    /// The RTMP server URL for encoders.
    var ingest: String { "rtmp://\(host):\(rtmpPort)/live" }

    func hls(_ room: String) -> String { "http://\(host):\(httpPort)/live/\(room)/index.m3u8" }

    func flv(_ room: String) -> String { "http://\(host):\(httpPort)/live/\(room).flv" }

    func rtmp(_ room: String) -> String { "rtmp://\(host):\(rtmpPort)/live/\(room)" }

    func api(_ path: String) -> String { "http://\(host):\(httpPort)/v1/\(path)" }
}

/// The host by which a client reached the gateway, from its `Host` header (RFC 9110 section 7.2).
enum HostHeader {
    /// Returns the name or address without the port; nil if it contains characters that are not allowed in an
    /// authority.
    static func parse(_ authority: String?) -> String? {
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
