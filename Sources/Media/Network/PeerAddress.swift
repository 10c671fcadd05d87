#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The numeric address of a peer; IPv4 addresses are mapped to `::ffff:0:0/96`, so that both forms compare equal.
public struct PeerAddress: Sendable, Equatable {
    /// The 16 bytes of the IPv6 form.
    public let bytes: [UInt8]

    /// Parses an address; nil unless it is numeric.
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

    /// Whether the address is an IPv4 address, in either form.
    public var isIPv4: Bool { bytes.starts(with: Self.mapped) }

    /// Whether the address is a loopback address.
    public var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// The key that identifies a client: an IPv4 address, or the /64 network of an IPv6 address (`2001:db8:0:1::/64`),
    /// within which a client can choose its addresses freely.
    public var account: UInt64 {
        // No client uses the IPv6 networks whose key would equal that of an IPv4 address.
        (isIPv4 ? bytes.suffix(4) : bytes.prefix(8)).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// `account` in text form.
    public var accountName: String {
        if isIPv4 { return bytes.suffix(4).map(String.init).joined(separator: ".") }
        let words = stride(from: 48, through: 0, by: -16).map { String(account >> UInt64($0) & 0xFFFF, radix: 16) }
        return words.joined(separator: ":") + "::/64"
    }

    /// Returns the `accountName` of a numeric address, and other text unchanged.
    public static func accountName(of text: String) -> String {
        PeerAddress(text)?.accountName ?? text
    }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}
