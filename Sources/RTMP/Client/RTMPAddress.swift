/// An `rtmp://` address taken apart: `rtmp://host:port/app/name?query`, where everything but the last part is the
/// application.
struct RTMPAddress: Equatable {
    var host: String
    var port: Int
    var app: String
    /// The last part of the path, with the query.
    var name: String
    /// The address up to the application.
    var tcURL: String

    init?(_ url: String) {
        guard url.lowercased().hasPrefix("rtmp://") else { return nil }
        let rest = url.dropFirst(7)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        guard let (host, port) = Self.authority(rest[..<slash]) else { return nil }
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
        tcURL = "rtmp://\(rest[..<slash])/\(app)"
    }

    private static func authority(_ text: Substring) -> (host: String, port: Int)? {
        var host = text
        var port = 1935
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let number = Int(text[text.index(after: colon)...]), (1...65_535).contains(number) else { return nil }
            host = text[..<colon]
            port = number
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (String(host), port)
    }
}
