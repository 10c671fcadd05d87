import FootlightTesting
import Glibc

/// A client's connection to a port of this machine that never blocks.
struct OracleSocket: ~Copyable {
    enum Reading {
        case bytes(Int)
        case nothing
        case closed
    }

    private let descriptor: Int32

    /// Nil when nobody listens.
    init?(port: Int) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 || errno == EINPROGRESS else {
            close(descriptor)
            return nil
        }
        self.descriptor = descriptor
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
