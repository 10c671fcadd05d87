public import HTTPTypes
import Media
import Synchronization

/// The reverse proxies that are trusted to name the origin of a request.
///
/// Trusted are the networks configured by the operator and this machine's loopback addresses, because only a proxy
/// knows the client behind it. Copies share one list, so that `replace(with:)` changes it for all.
public struct TrustedProxies: Sendable {
    private struct State {
        var networks = NetworkList()
        var regionHeader: HTTPField.Name?
        var cacheMedia = true
    }

    /// The state that copies share.
    private final class Storage: Sendable {
        let state: Mutex<State>

        init(_ state: State) { self.state = Mutex(state) }
    }

    private let storage: Storage
    private var networks: NetworkList { storage.state.withLock { $0.networks } }
    private var regionHeader: HTTPField.Name? { storage.state.withLock { $0.regionHeader } }
    /// Whether the proxies may answer media requests from a cache, so that those requests are not seen here.
    public var cacheMedia: Bool {
        get { storage.state.withLock { $0.cacheMedia } }
        nonmutating set { storage.state.withLock { $0.cacheMedia = newValue } }
    }

    /// Creates an empty list.
    public init() {
        storage = Storage(State())
    }

    /// Creates a list of networks; nil if a text is no network or the header name is invalid.
    ///
    /// - Parameters:
    ///   - networks: Addresses, or networks such as `10.0.0.0/8` and `fd00::/8`.
    ///   - regionHeader: The header field with the country, or country and region, of a request: `CF-IPCountry`.
    public init?(_ networks: [String], regionHeader: String? = nil) {
        guard let networks = NetworkList(networks) else { return nil }
        let field = regionHeader.flatMap { HTTPField.Name($0) }
        if regionHeader != nil, field == nil { return nil }
        storage = Storage(State(networks: networks, regionHeader: field))
    }

    /// Takes over the list of another value, for all copies.
    public func replace(with other: TrustedProxies) {
        let state = other.storage.state.withLock { $0 }
        storage.state.withLock { $0 = state }
    }

    /// Whether an address is in one of the networks.
    public func include(_ address: String) -> Bool {
        networks.contains(address)
    }

    /// Whether an address may report the origin of requests and viewers: one of the networks, or this machine.
    public func mayReport(from address: String) -> Bool {
        PeerAddress(address)?.isLoopback == true || include(address)
    }

    /// Returns the account name under which the requests of one client are rate-limited together.
    ///
    /// - Parameter peer: The numeric address of the connection; nil if unknown.
    /// - Returns: The IPv4 address or the IPv6 network; nil if unknown.
    public func account(of fields: HTTPFields, peer: String?) -> String? {
        origin(of: fields, peer: peer).address.map(PeerAddress.accountName(of:))
    }

    /// Returns the origin of a request: as named by trusted proxies, otherwise the address of the connection.
    ///
    /// - Parameter peer: The numeric address of the connection; nil if unknown.
    func origin(of fields: HTTPFields, peer: String?) -> (address: String?, region: String?) {
        guard let peer, mayReport(from: peer) else { return (peer, nil) }
        // Each proxy appends the address it saw; entries before the first trusted proxy can be forged.
        let said = Self.forwarded(fields)
        let address = said.last { !mayReport(from: $0) } ?? said.first ?? peer
        return (PeerAddress(address) == nil ? peer : address, regionHeader.flatMap { fields[$0] })
    }

    /// Whether all media requests of a player reach this process: it connects directly, or through proxies without a
    /// cache.
    ///
    /// - Parameter peer: The numeric address of the connection; nil if unknown.
    func seesAllMedia(of fields: HTTPFields, peer: String?) -> Bool {
        guard let peer else { return false }
        let isForOthers = include(peer) || mayReport(from: peer) && Self.isForwarded(fields)
        return !isForOthers || !cacheMedia
    }

    /// Whether a request was forwarded for another client.
    static func isForwarded(_ fields: HTTPFields) -> Bool {
        fields.contains(.forwardedFor) || fields.contains(.forwarded)
    }

    /// Returns the addresses for which a request was forwarded, one per proxy: `X-Forwarded-For`, or else `Forwarded`
    /// (RFC 7239).
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

    /// Returns the address of a node (RFC 7239 section 6) without port and brackets.
    private static func host(_ node: String) -> String {
        if node.hasPrefix("[") { return String(node.dropFirst().prefix { $0 != "]" }) }
        return node.count(where: { $0 == ":" }) == 1 ? String(node.prefix { $0 != ":" }) : node
    }
}

extension HTTPField.Name {
    // The name is a valid token, so the default is never used.
    fileprivate static let forwardedFor = Self("X-Forwarded-For") ?? .via
    fileprivate static let forwarded = Self("Forwarded") ?? .via
}
