import Glibc
import TestSupport

/// A TCP client for arbitrary data, with blocking calls and a timeout of ten seconds.
final class RawTCPClient {
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
    /// - Returns: Whether the data was sent.
    @discardableResult
    func send(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        return Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Sends one byte repeatedly.
    ///
    /// - Returns: The number of sent bytes, up to `limit`, and whether the peer closed the connection.
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

    /// Returns the next received data; empty at the end or after the timeout.
    func readSome() -> String {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        return count > 0 ? String(decoding: chunk[..<count], as: UTF8.self) : ""
    }

    /// Returns all data until the connection is closed.
    func readToEnd() -> String {
        var all = ""
        while case let text = readSome(), !text.isEmpty { all += text }
        return all
    }
}

/// A port that accepts TCP connections and never sends data.
final class UnresponsiveListener: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        port = try FreePort.pick()
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        // The kernel accepts connections up to the backlog.
        guard isBound, listen(descriptor, 64) == 0 else { throw ToolFailure("cannot listen on \(port)") }
    }

    deinit { close(descriptor) }
}
