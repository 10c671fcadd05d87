import Foundation

/// Where an asset is asked for.
struct AssetAddress: Equatable, Sendable {
    var isSecure: Bool
    var host: String
    var port: Int
    /// Begins with a slash, with the query.
    var path: String

    init(isSecure: Bool, host: String, port: Int, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// Reads a URL; nil unless it is a plain `http` or `https` one without a user's name.
    init?(url: String) {
        guard url.utf8.count <= 2048, let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty,
            parts.user == nil, parts.password == nil
        else { return nil }
        switch parts.scheme?.lowercased() {
        case "https": isSecure = true
        case "http": isSecure = false
        default: return nil
        }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { return nil }
        let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        self.path = parts.percentEncodedQuery.map { "\(path)?\($0)" } ?? path
    }

    /// Where a redirect leads to; nil when it is not a place to follow it to.
    func redirected(to location: String) -> AssetAddress? {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            return AssetAddress(isSecure: isSecure, host: host, port: port, path: location)
        }
        guard let next = AssetAddress(url: location), next.isSecure || !isSecure else { return nil }
        return next
    }

    /// The `Host` header.
    var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }
}
