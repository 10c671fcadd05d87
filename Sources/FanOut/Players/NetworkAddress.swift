#if canImport(Glibc)
import Glibc
#endif

/// A numeric address, IPv4 ones below `::ffff:0:0/96`, so that both forms of one are the same.
struct NetworkAddress: Equatable {
    /// Sixteen of them.
    let bytes: [UInt8]

    /// Reads an address; nil for what is no numeric one.
    init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = Self.mapped + withUnsafeBytes(of: &four) { Array($0) }
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        bytes = withUnsafeBytes(of: &six) { Array($0) }
    }

    /// Whether it is one of this machine's for itself.
    var isLoopback: Bool {
        isIPv4 ? bytes[12] == 127 : bytes.dropLast().allSatisfy { $0 == 0 } && bytes[15] == 1
    }

    /// What is one client's: an IPv4 address, and of IPv6 the network that a house is given (`2001:db8:0:1::/64`), in which
    /// it may take another address for every request.
    var account: String {
        if isIPv4 { return bytes.suffix(4).map(String.init).joined(separator: ".") }
        let words = stride(from: 0, to: 8, by: 2).map { place in
            String(UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1]), radix: 16)
        }
        return words.joined(separator: ":") + "::/64"
    }

    private var isIPv4: Bool { bytes.starts(with: Self.mapped) }

    private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]
}
