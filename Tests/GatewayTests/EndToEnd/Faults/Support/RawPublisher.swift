import Glibc
import TestSupport

/// A minimal RTMP publisher that returns the gateway's literal response.
///
/// The first stream of a connection has the id 1, so that everything is sent without waiting.
struct RawPublisher {
    private static let chunkSize = 60_000

    /// Publishes with a key, sends messages, and returns everything received until the end or a timeout.
    ///
    /// - Parameters:
    ///   - video: The bodies of video messages after the publish command.
    ///   - timeout: Seconds without data after which the connection is closed.
    static func attempt(port: Int, key: String, video: [[UInt8]] = [], timeout: Int = 3) throws -> Answer {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { throw ToolFailure("no connection to \(port)") }
        var limit = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))

        // C0, C1 and C2; servers do not check the echo.
        var bytes: [UInt8] = [3] + Array(repeating: 0, count: 8) + Array(repeating: 7, count: 1528)
        bytes += Array(repeating: 0, count: 1536)
        bytes += message(type: 1, stream: 0, integer(UInt32(chunkSize)))
        let properties = property("app", "live") + property("tcUrl", "rtmp://127.0.0.1:\(port)/live")
        bytes += message(type: 20, stream: 0, text("connect") + number(1) + [3] + properties + [0, 0, 9])
        bytes += message(type: 20, stream: 0, text("createStream") + number(2) + [5])
        bytes += message(type: 20, stream: 1, text("publish") + number(3) + [5] + text(key) + text("live"))
        for body in video { bytes += message(type: 9, stream: 1, body) }
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        return read(descriptor)
    }

    /// The response.
    struct Answer {
        /// The printable bytes.
        var text: String
        /// The gateway closed the connection.
        var isClosed: Bool
    }

    private static func read(_ descriptor: Int32) -> Answer {
        var said: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count > 0 {
                said += chunk[..<count]
            } else {
                let wasReset = count < 0 && errno == ECONNRESET
                let text = String(decoding: said.filter { $0 >= 32 && $0 < 127 }, as: UTF8.self)
                return Answer(text: text, isClosed: count == 0 || wasReset)
            }
        }
    }

    private static func message(type: UInt8, stream: UInt8, _ body: [UInt8]) -> [UInt8] {
        // Chunk stream 3, type 0 header, timestamp 0; each body fits into one chunk, and the first message has four
        // bytes.
        let length = [UInt8(body.count >> 16 & 0xFF), UInt8(body.count >> 8 & 0xFF), UInt8(body.count & 0xFF)]
        return [3, 0, 0, 0] + length + [type, stream, 0, 0, 0] + body
    }

    private static func text(_ value: String) -> [UInt8] { [2] + name(value) }

    private static func property(_ key: String, _ value: String) -> [UInt8] { name(key) + text(value) }

    private static func name(_ value: String) -> [UInt8] {
        [UInt8(value.utf8.count >> 8), UInt8(value.utf8.count & 0xFF)] + Array(value.utf8)
    }

    private static func number(_ value: Double) -> [UInt8] {
        [0] + (0..<8).map { UInt8(value.bitPattern >> (56 - 8 * $0) & 0xFF) }
    }

    private static func integer(_ value: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(value >> (24 - 8 * $0) & 0xFF) }
    }
}
