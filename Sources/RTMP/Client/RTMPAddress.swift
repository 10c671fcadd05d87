/// An `rtmp://` or `rtmps://` address taken apart: `rtmp://host:port/app/name?query`, where everything but the last part
/// is the application.
struct RTMPAddress: Equatable {
    /// Whether the connection is made by TLS (`rtmps`).
    var isSecure: Bool
    var host: String
    /// 1935, or 443 by TLS, where the address names none.
    var port: Int
    var app: String
    /// The last part of the path, with the query.
    var name: String
    /// The address up to the application.
    var tcURL: String

    init?(_ url: String) {
        let schemes = ["rtmp://", "rtmps://"]
        guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0) }) else { return nil }
        isSecure = scheme == "rtmps://"
        let rest = url.dropFirst(scheme.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        guard let (host, port) = Self.authority(rest[..<slash], port: isSecure ? 443 : 1935) else { return nil }
        let halves = rest[rest.index(after: slash)...].split(
            separator: "?",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let parts = halves[0].split(separator: "/")
        guard parts.count >= 2, let last = parts.last else { return nil }
        self.host = host
        self.port = port
        app = parts.dropLast().joined(separator: "/")
        name = String(last) + (halves.count > 1 ? "?" + halves[1] : "")
        tcURL = "\(scheme)\(rest[..<slash])/\(app)"
    }

    private static func authority(_ text: Substring, port: Int) -> (host: String, port: Int)? {
        var host = text
        var port = port
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            host = text[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}
