import Media

/// The client of a request, as far as its connection and the trusted servers in front of the gateway reveal it.
///
/// A gateway that forwards a request to another one of its cluster sends this along, so that counting, limits and
/// access rules there see the client and not the gateway.
public struct ClientOrigin: Sendable, Equatable {
    /// The numeric address; nil if unknown.
    public var address: String?
    /// The country, or country and region, as a server in front names it; nil if none does.
    public var region: String?
    /// Whether the address is that of a server in front that names no client.
    public var isShared = false
    /// Whether all media requests of the client reach this process, so that no cache answers some.
    public var isMediaSeen = false
    /// Whether no server in front is known of.
    public var isDirect = false
    /// Whether the client came by HTTPS.
    public var isSecure = false

    /// Creates an origin of which nothing but the address is known.
    public init(address: String? = nil) {
        self.address = address
    }

    private static let flags: [(letter: Character, flag: any WritableKeyPath<ClientOrigin, Bool> & Sendable)] = [
        ("h", \.isShared), ("m", \.isMediaSeen), ("d", \.isDirect), ("s", \.isSecure),
    ]

    /// Parses a value of `text`; nil for anything else.
    public init?(text: String) {
        let parts = text.split(separator: ";", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty || PeerAddress(String(parts[1])) != nil else { return nil }
        self.init(address: parts[1].isEmpty ? nil : String(parts[1]))
        region = parts[2].isEmpty ? nil : String(parts[2])
        for letter in parts[0] {
            guard let flag = Self.flags.first(where: { $0.letter == letter })?.flag else { return nil }
            self[keyPath: flag] = true
        }
    }

    /// The value of a header field: the flags that are set, the address and the region.
    public var text: String {
        let letters = Self.flags.filter { self[keyPath: $0.flag] }.map(\.letter)
        return "\(String(letters));\(address ?? "");\(region ?? "")"
    }

    /// The `PeerAddress.account` to charge; nil if there is no limit, or the address is unknown.
    var account: UInt64? {
        isShared ? nil : address.flatMap { PeerAddress($0) }?.account
    }
}
