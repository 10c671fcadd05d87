import Glibc
import Logging
import NIOCore
import Synchronization

/// Listening sockets that a service manager passes from one process to the next, as described in sd_listen_fds(3).
///
/// Between two processes, connections wait in the sockets' backlog. Each socket is handed out once, by port. Any
/// thread.
final class InheritedSockets: Sendable {
    private struct Socket {
        let descriptor: CInt
        /// Whether the socket listens on a loopback address.
        let isLoopback: Bool
    }

    /// The sockets by port.
    private let sockets: Mutex<[Int: Socket]>
    /// Descriptors that are not listening TCP sockets, or duplicates of a port.
    private let unusable: [CInt]

    /// Finds the sockets in this process's environment; none if `LISTEN_PID` is another process or missing.
    ///
    /// - Parameters:
    ///   - environment: The variables with `LISTEN_PID` and `LISTEN_FDS`.
    ///   - pid: The id of this process.
    ///   - first: The first of the consecutive descriptors.
    init(environment: [String: String], pid: Int32, first: CInt = 3) {
        var found: [Int: Socket] = [:]
        var unusable: [CInt] = []
        let isOurs = environment["LISTEN_PID"] == "\(pid)"
        let count = isOurs ? environment["LISTEN_FDS"].flatMap { CInt($0) } ?? 0 : 0
        for descriptor in first..<first + min(max(count, 0), 64) {
            // Mixers must not inherit them.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { continue }
            if let (port, isLoopback) = Self.address(of: descriptor), found[port] == nil {
                found[port] = Socket(descriptor: descriptor, isLoopback: isLoopback)
            } else {
                unusable.append(descriptor)
            }
        }
        sockets = Mutex(found)
        self.unusable = unusable
    }

    /// Returns the socket that listens on a port, once; nil if there is none.
    ///
    /// - Parameter isLoopback: Whether the socket must listen on a loopback address.
    func socket(for port: Int, isLoopback: Bool = false) -> CInt? {
        sockets.withLock { sockets in
            guard let socket = sockets[port], socket.isLoopback || !isLoopback else { return nil }
            sockets[port] = nil
            return socket.descriptor
        }
    }

    /// Closes and logs the sockets that were not used.
    func closeOthers(_ logger: Logger) {
        let others = sockets.withLock { sockets in
            defer { sockets = [:] }
            return sockets
        }
        for (port, socket) in others.sorted(by: { $0.key < $1.key }) {
            logger.warning(
                "inherited socket not used: unknown port, or admin port on a public address",
                metadata: ["port": "\(port)"]
            )
            close(socket.descriptor)
        }
        for descriptor in unusable {
            logger.warning("inherited descriptor is not a listening socket", metadata: ["descriptor": "\(descriptor)"])
            close(descriptor)
        }
    }

    /// Returns the address of a listening TCP socket; nil for other descriptors.
    private static func address(of descriptor: CInt) -> (port: Int, isLoopback: Bool)? {
        var isListening: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening != 0 else {
            return nil
        }
        var storage = sockaddr_storage()
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        let target = withUnsafeBytes(of: storage) { SocketTarget(socketAddress: $0) }
        guard status == 0, let target else { return nil }
        return (Int(target.port), target.address.hasPrefix("127.") || target.address == "::1")
    }
}
