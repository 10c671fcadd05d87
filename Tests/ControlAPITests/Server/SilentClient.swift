#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An HTTP client on a bare socket that asks and then reads nothing until it is told to.
final class SilentClient {
    struct Failure: Error {
        let number: Int32
    }

    private let descriptor: Int32

    init(port: Int, path: String, token: String) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(number: errno) }
        // A hung test must end: no read waits longer than this.
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(number: errno) }
        let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n\r\n"
        let sent = Array(request.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
        guard sent == request.utf8.count else { throw Failure(number: errno) }
    }

    deinit {
        close(descriptor)
    }

    /// What comes first, as far as it came at once.
    ///
    /// Without blocking: the server may be on the thread that would be blocked.
    func readSome() async throws -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 12)
        for _ in 0..<10_000 {
            let count = buffer.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return String(decoding: buffer[..<count], as: UTF8.self) }
            guard errno == EAGAIN || errno == EINTR else { throw Failure(number: errno) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw Failure(number: ETIMEDOUT)
    }

    /// Everything until the server closes.
    func readToEnd() throws -> String {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            if count == 0 { break }
            guard count > 0 else { throw Failure(number: errno) }
            all += buffer[..<count]
        }
        return String(decoding: all, as: UTF8.self)
    }
}
