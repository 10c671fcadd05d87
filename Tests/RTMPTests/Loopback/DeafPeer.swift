import Glibc
import Media
import NIOCore

/// A TCP connection that sends the same bytes over and over, and reads only when it is told to.
final class DeafPeer {
    struct Failure: Error {}

    private let socket: Int32
    private let bytes: [UInt8]
    private var position = 0

    /// Connects with small buffers of its own, so that what it does not read is soon with the server.
    ///
    /// - Parameters:
    ///   - first: Sent at once.
    ///   - bytes: What is repeated.
    init(port: Int, first: [UInt8], repeating bytes: [UInt8]) throws {
        self.bytes = bytes
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var size: Int32 = 64 << 10
        for option in [SO_RCVBUF, SO_SNDBUF] {
            setsockopt(socket, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { connect(socket, $0, socklen_t($1)) }
        guard result == 0, first.withUnsafeBytes({ Glibc.send(socket, $0.baseAddress, $0.count, 0) }) == first.count
        else { throw Failure() }
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    }

    deinit { close(socket) }

    /// Sends until the server has taken nothing for a second, and says how much it took.
    func sendUntilStuck(atMost most: Int) async throws -> Int {
        var sent = 0
        var lastTaken = MonotonicTime.now()
        while sent < most, MonotonicTime.now().seconds(since: lastTaken) < 1 {
            let count = sendSome()
            if count > 0 {
                sent += count
                lastTaken = .now()
            } else {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        return sent
    }

    /// Reads all that comes while it sends as much; false when that was not taken in time.
    func converse(bytes wanted: Int, within seconds: Double) async throws -> Bool {
        var sent = 0
        let deadline = MonotonicTime.now().advanced(seconds: seconds)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while sent < wanted, MonotonicTime.now() < deadline {
            let isQuiet = recv(socket, &buffer, buffer.count, 0) <= 0
            let count = sendSome()
            sent += count
            if isQuiet, count == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        return sent >= wanted
    }

    private func sendSome() -> Int {
        let count = bytes[position...].withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { return 0 }
        position = (position + count) % bytes.count
        return count
    }
}
