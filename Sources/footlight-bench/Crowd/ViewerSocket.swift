import Glibc
import RTMP
import TestSupport

/// A viewer's TCP connection to 127.0.0.1 by system calls, which cost a crowd the least processor time.
enum ViewerSocket {
    /// Connects synchronously; later reads time out after ten seconds.
    ///
    /// - Parameter receiveBuffer: The size of the receive buffer in bytes; nil for the system's default.
    static func connect(port: Int, receiveBuffer: Int32? = nil) throws -> Int32 {
        let descriptor = try make(flags: 0)
        var deadline = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &deadline, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        guard connect(descriptor, to: port) == 0 else {
            close(descriptor)
            throw failure("a viewer cannot connect")
        }
        return descriptor
    }

    /// Starts to connect without blocking.
    static func begin(port: Int) throws -> Int32 {
        let descriptor = try make(flags: Int32(SOCK_NONBLOCK.rawValue))
        guard connect(descriptor, to: port) == 0 || errno == EINPROGRESS else {
            close(descriptor)
            throw failure("a viewer cannot connect")
        }
        return descriptor
    }

    /// Sends a few bytes, which fit into the send buffer of a new connection.
    static func send(_ bytes: [UInt8], on socket: Int32) throws {
        let sent = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == bytes.count else { throw failure("a viewer cannot send its request") }
    }

    /// Receives and discards `length` bytes, blocking.
    static func skip(_ length: Int, from socket: Int32) throws {
        guard length > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: length)
        let received = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, Int32(MSG_WAITALL)) }
        guard received == length else { throw failure("the server does not complete the handshake") }
    }

    /// Sends the handshake and the play request, blocking for the handshake's response.
    static func requestStream(_ dialogue: PlayHandshake, on socket: Int32) throws {
        try send(dialogue.opening, on: socket)
        try skip(dialogue.responseLength, from: socket)
        if !dialogue.request.isEmpty { try send(dialogue.request, on: socket) }
    }

    /// Returns the error of the last system call.
    static func failure(_ what: String) -> ToolFailure { ToolFailure(what, log: String(cString: strerror(errno))) }

    private static func make(flags: Int32) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | flags, 0)
        guard descriptor >= 0 else { throw failure("no socket for a viewer") }
        return descriptor
    }

    private static func connect(_ descriptor: Int32, to port: Int) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// The bytes that start playback, encoded once for a whole crowd.
struct PlayHandshake {
    /// The bytes sent first.
    let opening: [UInt8]
    /// Bytes of the server's response to them, before `request` may be sent.
    let responseLength: Int
    /// The remaining bytes; empty when there are none.
    let request: [UInt8]

    /// Returns the request of an HTTP-FLV player.
    static func flv(port: Int, stream: String) -> PlayHandshake {
        let text = "GET /live/\(stream).flv HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nUser-Agent: bench\r\n\r\n"
        return PlayHandshake(opening: Array(text.utf8), responseLength: 0, request: [])
    }

    /// Returns the bytes of an RTMP player.
    static func rtmp(port: Int, application: String, stream: String) -> PlayHandshake {
        let play = RTMPPlayHandshake(port: port, application: application, stream: stream)
        return PlayHandshake(
            opening: play.opening,
            responseLength: RTMPPlayHandshake.responseLength,
            request: play.request
        )
    }
}

/// A player of one stream by any protocol.
protocol StreamPlayer: Sendable {
    func start()
    func stop()
}

extension RTMPPlayer: StreamPlayer {}
