import Foundation
import OutboundHTTP

/// The part of a gateway's configuration that concerns the other gateways of its cluster, complete and checked.
struct ClusterConfiguration: Sendable, Equatable {
    /// The bytes that a key must have.
    static let keyLength = 32

    /// The name of this gateway.
    let node: String
    /// The address by which the others reach it, such as `http://10.0.0.5:8080`.
    let address: String
    /// The connection string of the database; may contain a password.
    let connection: String
    /// The key that all gateways share.
    let key: [UInt8]

    /// Reads the file of the key; nil for a gateway that runs alone.
    ///
    /// - Throws: `ConfigurationError` for a key that is missing or too short.
    init?(_ configuration: GatewayConfiguration) throws(ConfigurationError) {
        guard let connection = configuration.clusterDSN, let node = configuration.clusterNode,
            let address = configuration.clusterAddress, let file = configuration.clusterKey
        else { return nil }
        guard let content = FileManager.default.contents(atPath: file) else {
            throw ConfigurationError(key: "cluster.key", problem: "is \(file), which cannot be read")
        }
        let text = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count >= Self.keyLength else {
            throw ConfigurationError(
                key: "cluster.key",
                problem: "is a file with less than \(Self.keyLength) characters; openssl rand -base64 32 makes one"
            )
        }
        self.node = node
        self.address = address
        self.connection = connection
        key = Array(text.utf8)
    }
}

extension OutboundTarget {
    /// Parses the address of a node, as `cluster.address` has it; nil for anything else.
    ///
    /// - Parameter path: The path with the query.
    init?(node address: String, path: String) {
        guard let parts = URLComponents(string: address), let host = parts.host, !host.isEmpty, parts.user == nil,
            let scheme = parts.scheme, ["http", "https"].contains(scheme)
        else { return nil }
        let isSecure = scheme == "https"
        let port = parts.port ?? (isSecure ? 443 : 80)
        guard (1...65_535).contains(port) else { return nil }
        self.init(
            isSecure: isSecure,
            host: host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host,
            port: port,
            path: path
        )
    }
}
