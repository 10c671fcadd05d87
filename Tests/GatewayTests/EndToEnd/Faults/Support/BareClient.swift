import FootlightTesting
import Glibc

/// A TCP client that sends what it likes, by calls that block for ten seconds at most.
final class BareClient {
    private let descriptor: Int32

    init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            throw ToolFailure("no connection to \(port)")
        }
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    deinit { close(descriptor) }

    /// Sends a text.
    ///
    /// - Returns: Whether the connection took it.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Sends one byte again and again.
    ///
    /// - Returns: How many bytes the connection took, `limit` at most, and whether it was closed then; it may also have
    ///   taken nothing for too long.
    func flood(with byte: UInt8, limit: Int) -> (sent: Int, isClosed: Bool) {
        let piece = [UInt8](repeating: byte, count: 1 << 20)
        var sent = 0
        while sent < limit {
            let count = Glibc.send(descriptor, piece, piece.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return (sent, errno == EPIPE || errno == ECONNRESET) }
            sent += count
        }
        return (sent, false)
    }

    /// What comes next, as far as it came at once; empty when nothing does.
    func readSome() -> String {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : ""
    }

    /// Everything until the connection is closed.
    func readToEnd() -> String {
        var all = ""
        while case let text = readSome(), !text.isEmpty { all += text }
        return all
    }
}
