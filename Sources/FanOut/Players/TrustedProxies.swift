public import HTTPTypes
import Media

/// The servers in front of this one that are believed when they say where a request comes from.
///
/// Those are the networks that the operator names, and whatever on this machine says it: who is behind a proxy on loopback
/// is told by that proxy alone.
public struct TrustedProxies: Sendable {
    /// Addresses of which the first `length` bits are the network's.
    private struct Network {
        let address: PeerAddress
        let length: Int

        func contains(_ other: PeerAddress) -> Bool {
            let (whole, rest) = (length / 8, length % 8)
            guard address.bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
            guard rest > 0 else { return true }
            return (address.bytes[whole] ^ other.bytes[whole]) >> UInt8(8 - rest) == 0
        }
    }

    private let networks: [Network]
    private let regionHeader: HTTPField.Name?
    /// Whether they may answer requests for media from a cache of theirs, so that those are never seen here.
    public var cacheMedia = true

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

    /// Whether that is the address of one of them.
    public func include(_ address: String) -> Bool {
        guard !networks.isEmpty, let address = PeerAddress(address) else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// Whether somebody at that address is believed about others, who asks and who watches: one of them, or a server on this
    /// machine.
    public func mayReport(from address: String) -> Bool {
        PeerAddress(address)?.isLoopback == true || include(address)
    }

    /// Under which name the requests of one client are counted together, so that it can be given a budget.
    ///
    /// - Parameter peer: The numeric address of the connection; nil when it is not known.
    /// - Returns: its IPv4 address, or its network of IPv6; nil when nobody knows who asks.
    public func account(of fields: HTTPFields, peer: String?) -> String? {
        origin(of: fields, peer: peer).address.map(PeerAddress.accountName(of:))
    }

    /// Where a request comes from: what the trusted say, and otherwise the address of its connection.
    ///
    /// - Parameter peer: The numeric address of the connection; nil when it is not known.
    func origin(of fields: HTTPFields, peer: String?) -> (address: String?, region: String?) {
        guard let peer, mayReport(from: peer) else { return (peer, nil) }
        // Each server adds the address that it saw; what those before the first trusted one wrote is anybody's.
        let said = Self.forwarded(fields)
        let address = said.last { !mayReport(from: $0) } ?? said.first ?? peer
        return (PeerAddress(address) == nil ? peer : address, regionHeader.flatMap { fields[$0] })
    }

    /// Whether all that a player asks for is seen here: it asks itself, or through servers that have no cache.
    ///
    /// - Parameter peer: The numeric address of the connection; nil when it is not known.
    func showMedia(of fields: HTTPFields, peer: String?) -> Bool {
        guard let peer else { return false }
        let isForOthers = include(peer) || mayReport(from: peer) && Self.isForwarded(fields)
        return !isForOthers || !cacheMedia
    }

    /// Whether a request says that it was made for somebody else.
    static func isForwarded(_ fields: HTTPFields) -> Bool {
        fields.contains(.forwardedFor) || fields.contains(.forwarded)
    }

    /// The addresses for which a request was made, each added by the server behind it: `X-Forwarded-For`, or
    /// `Forwarded` (RFC 7239) where there is only that.
    private static func forwarded(_ fields: HTTPFields) -> [String] {
        if let list = fields[.forwardedFor] {
            return list.split(separator: ",").map { String($0.filter { $0 != " " }) }
        }
        guard let list = fields[.forwarded] else { return [] }
        return list.split(separator: ",").compactMap { element in
            let pairs = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\"" } }
            guard let pair = pairs.first(where: { $0.lowercased().hasPrefix("for=") }) else { return nil }
            return host(String(pair.dropFirst(4)))
        }
    }

    /// The address of a node (RFC 7239 section 6) without its port and brackets.
    private static func host(_ node: String) -> String {
        if node.hasPrefix("[") { return String(node.dropFirst().prefix { $0 != "]" }) }
        return node.count(where: { $0 == ":" }) == 1 ? String(node.prefix { $0 != ":" }) : node
    }

    private static func network(_ text: String) -> Network? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let address = PeerAddress(String(parts[0])) else { return nil }
        let isIPv4 = !parts[0].contains(":")
        let bits = isIPv4 ? 32 : 128
        let length = parts.count == 2 ? Int(parts[1]) : bits
        guard let length, (0...bits).contains(length) else { return nil }
        return Network(address: address, length: isIPv4 ? length + 96 : length)
    }
}

extension HTTPField.Name {
    // The name is a token, so this is never the other one.
    fileprivate static let forwardedFor = Self("X-Forwarded-For") ?? .via
    fileprivate static let forwarded = Self("Forwarded") ?? .via
}
