import FootlightTesting
import Glibc

/// One TCP connection of a viewer to 127.0.0.1, by the system's own calls: a crowd has no processor time to give away.
enum ViewerSocket {
    /// Connects and waits until that is done; later reads wait ten seconds at most.
    ///
    /// - Parameter receiveBuffer: Bytes the system takes in for the viewer; nil for its own choice.
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

    /// Begins to connect, and never waits.
    static func begin(port: Int) throws -> Int32 {
        let descriptor = try make(flags: Int32(SOCK_NONBLOCK.rawValue))
        guard connect(descriptor, to: port) == 0 || errno == EINPROGRESS else {
            close(descriptor)
            throw failure("a viewer cannot connect")
        }
        return descriptor
    }

    /// Sends a few bytes, which fit into any socket that has just been opened.
    static func send(_ bytes: [UInt8], on socket: Int32) throws {
        let sent = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        guard sent == bytes.count else { throw failure("a viewer cannot ask") }
    }

    /// Waits for so many bytes, and forgets them.
    static func skip(_ length: Int, from socket: Int32) throws {
        guard length > 0 else { return }
        var bytes = [UInt8](repeating: 0, count: length)
        let received = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, Int32(MSG_WAITALL)) }
        guard received == length else { throw failure("the server does not shake hands") }
    }

    /// Says all that it takes to be sent the stream.
    static func ask(_ dialogue: Dialogue, on socket: Int32) throws {
        try send(dialogue.hello, on: socket)
        try skip(dialogue.answerLength, from: socket)
        if !dialogue.request.isEmpty { try send(dialogue.request, on: socket) }
    }

    /// What the system says of the last call, as an error.
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
