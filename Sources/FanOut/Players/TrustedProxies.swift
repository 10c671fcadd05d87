import HTTPTypes

#if canImport(Glibc)
import Glibc
#endif

/// The servers in front of this one that are believed when they say where a request comes from.
public struct TrustedProxies: Sendable {
    /// Addresses as sixteen bytes, of which the first `length` bits are the network's.
    private struct Network {
        let bytes: [UInt8]
        let length: Int

        func contains(_ address: [UInt8]) -> Bool {
            let (whole, rest) = (length / 8, length % 8)
            guard bytes.prefix(whole) == address.prefix(whole) else { return false }
            guard rest > 0 else { return true }
            return (bytes[whole] ^ address[whole]) >> UInt8(8 - rest) == 0
        }
    }

    private let networks: [Network]
    private let regionHeader: HTTPField.Name?

    /// Nobody.
    public init() {
        networks = []
        regionHeader = nil
    }

    /// The servers of some networks; nil when one of the texts is none, or no field can have that name.
    ///
    /// - Parameters:
    ///   - networks: Addresses, or networks as `10.0.0.0/8` and `fd00::/8`.
    ///   - regionHeader: The field in which they say the country, or country and region, of a request: `CF-IPCountry`.
    public init?(_ networks: [String], regionHeader: String? = nil) {
        let read = networks.map { Self.network($0) }
        self.networks = read.compactMap(\.self)
        guard read.count == self.networks.count else { return nil }
        self.regionHeader = regionHeader.flatMap { HTTPField.Name($0) }
        if regionHeader != nil, self.regionHeader == nil { return nil }
    }

    /// Where a request comes from: what the trusted say, and otherwise the address of its connection.
    ///
    /// - Parameter peer: The numeric address of the connection; nil when it is not known.
    func origin(of fields: HTTPFields, peer: String?) -> (address: String?, region: String?) {
        guard !networks.isEmpty, let peer, isTrusted(peer) else { return (peer, nil) }
        // Each server adds the address that it saw; what those before the first trusted one wrote is anybody's.
        let said = fields[.forwardedFor]?.split(separator: ",").map { String($0.filter { $0 != " " }) } ?? []
        let address = said.last { !isTrusted($0) } ?? said.first ?? peer
        return (Self.bytes(address) == nil ? peer : address, regionHeader.flatMap { fields[$0] })
    }

    private func isTrusted(_ address: String) -> Bool {
        guard let bytes = Self.bytes(address) else { return false }
        return networks.contains { $0.contains(bytes) }
    }

    private static func network(_ text: String) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let bytes = bytes(String(parts[0])) else { return nil }
        let isIPv4 = !parts[0].contains(":")
        let bits = isIPv4 ? 32 : 128
        let length = parts.count == 2 ? Int(parts[1]) : bits
        guard let length, (0...bits).contains(length) else { return nil }
        return Network(bytes: bytes, length: isIPv4 ? length + 96 : length)
    }

    /// Sixteen bytes, an IPv4 address below `::ffff:0:0/96`; nil for what is no numeric address.
    private static func bytes(_ text: String) -> [UInt8]? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            return [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF] + withUnsafeBytes(of: &four) { Array($0) }
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        return withUnsafeBytes(of: &six) { Array($0) }
    }
}

extension HTTPField.Name {
    // The name is a token, so this is never the other one.
    fileprivate static let forwardedFor = Self("X-Forwarded-For") ?? .via
}
