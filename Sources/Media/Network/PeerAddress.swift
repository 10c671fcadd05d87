#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The numeric address of whoever is at the other end, IPv4 ones below `::ffff:0:0/96`, so that both forms of one are the
/// same.
public struct PeerAddress: Sendable, Equatable {
    /// Sixteen of them.
    public let bytes: [UInt8]

    /// Reads an address; nil for what is no numeric one.
    public init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = Self.mapped + withUnsafeBytes(of: &four) { Array($0) }
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        bytes = withUnsafeBytes(of: &six) { Array($0) }
    }

    /// Whether it is one of IPv4, in whatever form.
    public var isIPv4: Bool { bytes.starts(with: Self.mapped) }

    /// Whether it is one of this machine's for itself.
    public var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// What is one client's: an IPv4 address, and of IPv6 the network that a house is given (`2001:db8:0:1::/64`), in which
    /// it may take another address for every request.
    public var account: UInt64 {
        // The networks of IPv6 that would be taken for an IPv4 address are nobody's.
        (isIPv4 ? bytes.suffix(4) : bytes.prefix(8)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// `account` as people write it.
    public var accountName: String {
        if isIPv4 { return bytes.suffix(4).map(String.init).joined(separator: ".") }
        let words = stride(from: 48, through: 0, by: -16).map { String(account >> UInt64($0) & 0xFFFF, radix: 16) }
        return words.joined(separator: ":") + "::/64"
    }

    /// Under which name a client is counted and written down: its `accountName`; what is no numeric address as it is.
    public static func accountName(of text: String) -> String {
        PeerAddress(text)?.accountName ?? text
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}
