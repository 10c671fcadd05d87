import Glibc
import Media

/// One IPv4 or IPv6 address with a port, as bytes in network order.
struct NetworkAddress: Sendable, Hashable {
    /// 4 or 16 bytes.
    let bytes: [UInt8]
    let port: UInt16
    /// The interface of a link-local IPv6 address; 0 for all others.
    var scope: UInt32 = 0

    init(ipv4 bytes: (UInt8, UInt8, UInt8, UInt8), port: UInt16) {
        self.bytes = [bytes.0, bytes.1, bytes.2, bytes.3]
        self.port = port
    }

    /// Reads a literal such as `127.0.0.1` or `::1`; nil for a name.
    init?(literal: String, port: UInt16) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, literal, &v4) == 1 {
            bytes = withUnsafeBytes(of: &v4) { Array($0) }
        } else if inet_pton(AF_INET6, literal, &v6) == 1 {
            bytes = withUnsafeBytes(of: &v6) { Array($0) }
        } else {
            return nil
        }
        self.port = port
    }

    /// Reads the address of a `getaddrinfo` result; nil for other families.
    init?(_ address: UnsafePointer<sockaddr>, length: socklen_t, port: UInt16) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            var found = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            bytes = withUnsafeBytes(of: &found) { Array($0) }
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            let whole = raw.loadUnaligned(as: sockaddr_in6.self)
            var found = whole.sin6_addr
            bytes = withUnsafeBytes(of: &found) { Array($0) }
            scope = whole.sin6_scope_id
        default: return nil
        }
        self.port = port
    }

    var isIPv6: Bool { bytes.count == 16 }

    /// Whether the address is global: not private, local, shared, reserved, multicast or embedding another address.
    ///
    /// The ranges are those of the IANA special-purpose registries (RFC 6890 and its successors). IPv6 addresses that
    /// embed an IPv4 address never count as global.
    var isGlobal: Bool {
        isIPv6 ? Self.isGlobalIPv6(bytes) : Self.isGlobalIPv4(bytes)
    }

    /// Whether the address lies in 169.254.0.0/16 or fe80::/10 (RFC 3927, RFC 4291), also embedded in an IPv6 address.
    var isLinkLocal: Bool {
        if isIPv6, bytes[0] == 0xFE, bytes[1] & 0xC0 == 0x80 { return true }
        return carriedIPv4.contains { $0.starts(with: [169, 254]) }
    }

    /// Whether the address is a cloud metadata service outside the link-local ranges.
    var isMetadataService: Bool {
        if bytes == [0xFD, 0, 0x0E, 0xC2] + [UInt8](repeating: 0, count: 10) + [0x02, 0x54] { return true }
        let known: [[UInt8]] = [[168, 63, 129, 16], [100, 100, 100, 200], [192, 0, 0, 192]]
        return carriedIPv4.contains { known.contains(Array($0)) }
    }

    /// The IPv4 address, or those that an IPv6 address may embed: mapped, compatible, translated and 6to4.
    private var carriedIPv4: [ArraySlice<UInt8>] {
        guard isIPv6 else { return [bytes[...]] }
        var found: [ArraySlice<UInt8>] = []
        if bytes[..<10].allSatisfy({ $0 == 0 }) { found.append(bytes[12...]) }
        // 64:ff9b::/32 holds the well-known prefix and the local ones (RFC 6052, RFC 8215).
        if bytes.starts(with: [0x00, 0x64, 0xFF, 0x9B]) { found.append(bytes[12...]) }
        if bytes.starts(with: [0x20, 0x02]) { found.append(bytes[2..<6]) }
        return found
    }

    /// Whether the address leads to this machine: loopback, unspecified, or the address of an interface.
    var isOfThisMachine: Bool {
        let own = unmapped
        if own.first == 127 && own.count == 4 || own.allSatisfy({ $0 == 0 }) { return true }
        if own == [UInt8](repeating: 0, count: 15) + [1] { return true }
        var interfaces: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&interfaces) == 0 else { return false }
        defer { freeifaddrs(interfaces) }
        var next = interfaces
        while let interface = next {
            next = interface.pointee.ifa_next
            guard let address = interface.pointee.ifa_addr else { continue }
            let isIPv6 = Int32(address.pointee.sa_family) == AF_INET6
            let length = isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
            if NetworkAddress(address, length: socklen_t(length), port: port)?.bytes == own { return true }
        }
        return false
    }

    /// The bytes; those of the IPv4 address for a mapped one (::ffff:a.b.c.d).
    private var unmapped: [UInt8] {
        let prefix = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return isIPv6 && bytes.starts(with: prefix) ? Array(bytes.suffix(4)) : bytes
    }

    private static func isGlobalIPv4(_ bytes: [UInt8]) -> Bool {
        switch (bytes[0], bytes[1], bytes[2]) {
        case (0, _, _), (10, _, _), (127, _, _): false
        case (100, 64...127, _): false
        case (169, 254, _): false
        case (172, 16...31, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (192, 168, _): false
        case (198, 18...19, _), (198, 51, 100), (203, 0, 113): false
        case (224..., _, _): false
        default: true
        }
    }

    private static func isGlobalIPv6(_ bytes: [UInt8]) -> Bool {
        // Global unicast is 2000::/3; loopback, mapped, translated, unique local, link-local and multicast lie outside.
        guard bytes[0] & 0xE0 == 0x20 else { return false }
        switch (bytes[0], bytes[1], bytes[2], bytes[3]) {
        case (0x20, 0x02, _, _): return false  // 6to4
        case (0x20, 0x01, 0x00...0x01, _): return false  // protocol assignments, Teredo among them
        case (0x20, 0x01, 0x0D, 0xB8): return false  // documentation
        case (0x3F, 0xFF, 0x00...0x0F, _): return false  // documentation
        default: return true
        }
    }

    /// Calls `body` with the address in the form of the socket calls.
    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

extension NetworkAddress: CustomStringConvertible {
    /// The address as numbers, without brackets and port.
    var literal: String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { text in
            let family = isIPv6 ? AF_INET6 : AF_INET
            let written = bytes.withUnsafeBytes {
                inet_ntop(family, $0.baseAddress, text.baseAddress, socklen_t(INET6_ADDRSTRLEN))
            }
            return written.map { String(cString: $0) } ?? "?"
        }
    }

    var description: String { isIPv6 ? "[\(literal)]:\(port)" : "\(literal):\(port)" }
}

/// Resolves a host name to addresses, by the deadline.
typealias NameResolving =
    @Sendable (_ host: String, _ port: UInt16, _ deadline: MonotonicTime) throws(PushError) ->
    [NetworkAddress]

/// Resolves names with `getaddrinfo` on a thread that can be abandoned.
///
/// `getaddrinfo` cannot be cancelled and may take half a minute. Each push has its own resolver with at most one query
/// in flight: while an abandoned query still runs, further ones fail at once.
final class NameResolver: Sendable {
    private struct Question: Sendable {
        var isOpen = false
        var number = 0
        var answer: Result<[NetworkAddress], PushError>?
    }

    private let latch = Latch(Question())

    func resolve(
        _ host: String,
        port: UInt16,
        deadline: MonotonicTime,
        isStopped: () -> Bool = { false }
    ) throws(PushError) -> [NetworkAddress] {
        if let literal = NetworkAddress(literal: host, port: port) { return [literal] }
        let number: Int? = latch.update { question in
            guard !question.isOpen else { return nil }
            question.isOpen = true
            question.number += 1
            question.answer = nil
            return question.number
        }
        guard let number else { throw PushError(.nameNotFound, "the name server has not answered for \(host)") }

        let latch = latch
        let thread = WorkerThread(name: "resolve", stackSize: WorkerThread.smallStack) {
            let answer = Self.ask(host, port: port)
            latch.update { question in
                question.isOpen = false
                if question.number == number { question.answer = answer }
            }
        }
        guard thread.hasStarted else {
            latch.update { $0.isOpen = false }
            throw PushError(.local, "no thread to resolve \(host)")
        }
        while MonotonicTime.now() < deadline, !isStopped() {
            let slice = min(deadline, .now().advanced(milliseconds: 50))
            if let answer = latch.wait(until: slice, { $0.answer }) { return try answer.get() }
        }
        throw PushError(.nameNotFound, "the name server did not answer for \(host) in time")
    }

    private static func ask(_ host: String, port: UInt16) -> Result<[NetworkAddress], PushError> {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        guard status == 0 else {
            return .failure(PushError(.nameNotFound, "\(host): \(String(cString: gai_strerror(status)))"))
        }
        defer { freeaddrinfo(list) }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next {
            if let raw = entry.pointee.ai_addr,
                let address = NetworkAddress(raw, length: entry.pointee.ai_addrlen, port: port),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return .success(addresses)
    }
}
