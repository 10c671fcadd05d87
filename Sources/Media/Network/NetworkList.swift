/// A list of IP networks.
public struct NetworkList: Sendable, Equatable {
    /// A network: an address of which the first `length` bits count.
    private struct Network: Sendable, Equatable {
        let address: PeerAddress
        let length: Int

        /// Parses an address, or a network such as `10.0.0.0/8`; nil for anything else.
        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2, let address = PeerAddress(String(parts[0])) else { return nil }
            let isIPv4 = !parts[0].contains(":")
            let bits = isIPv4 ? 32 : 128
            let length = parts.count == 2 ? Int(parts[1]) : bits
            guard let length, (0...bits).contains(length) else { return nil }
            self.address = address
            self.length = isIPv4 ? length + 96 : length
        }

        func contains(_ other: PeerAddress) -> Bool {
            let (whole, rest) = (length / 8, length % 8)
            guard address.bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
            guard rest > 0 else { return true }
            return (address.bytes[whole] ^ other.bytes[whole]) >> UInt8(8 - rest) == 0
        }
    }

    private let networks: [Network]

    /// Creates an empty list.
    public init() {
        networks = []
    }

    /// Parses addresses and networks such as `10.0.0.0/8` and `fd00::/8`; nil if a text is neither.
    public init?(_ networks: [String]) {
        let read = networks.map { Network($0) }
        self.networks = read.compactMap(\.self)
        guard read.count == self.networks.count else { return nil }
    }

    /// Whether the list has no network.
    public var isEmpty: Bool { networks.isEmpty }

    /// Whether a numeric address is in one of the networks.
    public func contains(_ address: String) -> Bool {
        guard !networks.isEmpty, let address = PeerAddress(address) else { return false }
        return networks.contains { $0.contains(address) }
    }
}
