import FootlightTesting
import Glibc

/// A client's connection to a port of this machine that never blocks.
struct OracleSocket: ~Copyable {
    enum Reading {
        case bytes(Int)
        case nothing
        case closed
    }

    /// 127.0.0.1, from where the kernel takes who says nothing else.
    static let loopback: UInt32 = 0x7F00_0001

    private let descriptor: Int32

    /// Nil when nobody listens.
    ///
    /// - Parameter origin: The address it comes from, one of 127.0.0.0/8.
    init?(port: Int, from origin: UInt32 = loopback) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        let isBound = origin == Self.loopback || Self.with(0, origin) { Glibc.bind(descriptor, $0, $1) } == 0
        let result = isBound ? Self.with(port, Self.loopback) { Glibc.connect(descriptor, $0, $1) } : -1
        guard isBound, result == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
    }

    private static func with(
        _ port: Int,
        _ host: UInt32,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(host).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    deinit { close(descriptor) }

    /// Sends everything at once; false when the connection is of no use.
    ///
    /// What is sent is short, and a fresh connection of loopback takes it.
    borrowing func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Reads what is there, as far as `buffer` goes.
    borrowing func read(_ buffer: UnsafeMutableRawBufferPointer, isDropped: Bool = false) -> Reading {
        // For TCP, MSG_TRUNC drops what was read instead of copying it (tcp(7)).
        let flags = Int32(MSG_DONTWAIT) | (isDropped ? Int32(MSG_TRUNC) : 0)
        let count = recv(descriptor, buffer.baseAddress, buffer.count, flags)
        if count > 0 { return .bytes(count) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .closed
    }
}
