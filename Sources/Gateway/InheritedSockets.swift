import Glibc
import Logging
import NIOCore
import Synchronization

/// Listening sockets that a service manager opened and keeps open from one process to the next, as sd_listen_fds(3)
/// describes them.
///
/// While no process is there, connections wait in them instead of being refused. Each is taken once, by its port. Any thread.
final class InheritedSockets: Sendable {
    private struct Socket {
        let descriptor: CInt
        /// Whether only this machine gets to it.
        let isLoopback: Bool
    }

    /// By the port on which they listen.
    private let sockets: Mutex<[Int: Socket]>
    /// Descriptors that are no listening TCP sockets, or the second one of a port.
    private let useless: [CInt]

    /// Finds them in the environment of this process; none when they are another's, or nobody passed any.
    ///
    /// - Parameters:
    ///   - environment: Variables: `LISTEN_PID` and `LISTEN_FDS`.
    ///   - pid: Of this process.
    ///   - first: The first of the descriptors, which follow one another.
    init(environment: [String: String], pid: Int32, first: CInt = 3) {
        var found: [Int: Socket] = [:]
        var useless: [CInt] = []
        let isOurs = environment["LISTEN_PID"] == "\(pid)"
        let count = isOurs ? environment["LISTEN_FDS"].flatMap { CInt($0) } ?? 0 : 0
        for descriptor in first..<first + min(max(count, 0), 64) {
            // Mixers must not have them.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { continue }
            if let (port, isLoopback) = Self.address(of: descriptor), found[port] == nil {
                found[port] = Socket(descriptor: descriptor, isLoopback: isLoopback)
            } else {
                useless.append(descriptor)
            }
        }
        sockets = Mutex(found)
        self.useless = useless
    }

    /// The socket that listens on a port, for whoever asks first; nil where there is none.
    ///
    /// - Parameter isLoopback: Only one that nobody gets to from outside of this machine.
    func socket(for port: Int, isLoopback: Bool = false) -> CInt? {
        sockets.withLock { sockets in
            guard let socket = sockets[port], socket.isLoopback || !isLoopback else { return nil }
            sockets[port] = nil
            return socket.descriptor
        }
    }

    /// Closes those that nobody has taken, and says so.
    func closeOthers(_ logger: Logger) {
        let others = sockets.withLock { sockets in
            defer { sockets = [:] }
            return sockets
        }
        for (port, socket) in others.sorted(by: { $0.key < $1.key }) {
            logger.warning(
                "a socket was passed that is not used: no port of ours, or the admin port for other machines",
                metadata: ["port": "\(port)"]
            )
            close(socket.descriptor)
        }
        for descriptor in useless {
            logger.warning("a descriptor was passed that is of no use", metadata: ["descriptor": "\(descriptor)"])
            close(descriptor)
        }
    }

    /// Where a socket listens for connections by TCP; nil for anything else.
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
