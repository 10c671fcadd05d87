import Glibc

/// Non-blocking TCP sockets on 127.0.0.1.
enum LoopbackSocket {
    /// Opens a socket that listens on a free port.
    static func listen() throws -> (descriptor: Int32, port: Int) {
        let descriptor = try make()
        var address = self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 && Glibc.listen(descriptor, 128) == 0
                    && getsockname(descriptor, address, &length) == 0
            }
        }
        guard isListening else {
            close(descriptor)
            throw ToolFailure("cannot listen on 127.0.0.1", log: String(cString: strerror(errno)))
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Starts connecting a socket to a port; nil on failure.
    static func connect(port: Int) -> Int32? {
        guard let descriptor = try? make() else { return nil }
        var address = self.address(port: port)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 || errno == EINPROGRESS { return descriptor }
        close(descriptor)
        return nil
    }

    /// Accepts the next waiting connection, or returns nil.
    static func accept(_ listener: Int32) -> Int32? {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    /// Closes a connection with a reset.
    static func reset(_ descriptor: Int32) {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
        close(descriptor)
    }

    private static func make() throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw ToolFailure("no socket", log: String(cString: strerror(errno))) }
        return descriptor
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return address
    }
}

/// Connections to a port of 127.0.0.1 that send nothing.
///
/// Not `Sendable`: used by one task.
public final class IdleConnections {
    private var descriptors: [Int32] = []

    /// Opens as many of `count` connections as the system allows.
    public init(port: Int, count: Int) {
        for _ in 0..<count {
            if let descriptor = LoopbackSocket.connect(port: port) { descriptors.append(descriptor) }
        }
    }

    deinit { close() }

    /// The number of connections that the other side has not closed.
    public var open: Int {
        descriptors.count { descriptor in
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            return count > 0 || (count < 0 && errno == EAGAIN)
        }
    }

    /// Closes all connections.
    public func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        descriptors = []
    }
}
