import Glibc
import Logging
import NIOCore
import Synchronization

/// Listening sockets that a service manager opened and keeps open from one process to the next, as sd_listen_fds(3)
/// describes them.
///
/// While no process is there, connections wait in them instead of being refused. Each is taken once, by its port. Any thread.
final class InheritedSockets: Sendable {
    /// Descriptors by the port on which they listen.
    private let sockets: Mutex<[Int: CInt]>
    /// Descriptors that are no listening TCP sockets, or the second one of a port.
    private let useless: [CInt]

    /// Finds them in the environment of this process; none when they are another's, or nobody passed any.
    ///
    /// - Parameters:
    ///   - environment: Variables: `LISTEN_PID` and `LISTEN_FDS`.
    ///   - pid: Of this process.
    ///   - first: The first of the descriptors, which follow one another.
    init(environment: [String: String], pid: Int32, first: CInt = 3) {
        var found: [Int: CInt] = [:]
        var useless: [CInt] = []
        let isOurs = environment["LISTEN_PID"] == "\(pid)"
        let count = isOurs ? environment["LISTEN_FDS"].flatMap { CInt($0) } ?? 0 : 0
        for descriptor in first..<first + min(max(count, 0), 64) {
            // Mixers must not have them.
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { continue }
            if let port = Self.port(of: descriptor), found[port] == nil {
                found[port] = descriptor
            } else {
                useless.append(descriptor)
            }
        }
        sockets = Mutex(found)
        self.useless = useless
    }

    /// The socket that listens on a port, for whoever asks first; nil where there is none.
    func socket(for port: Int) -> CInt? {
        sockets.withLock { $0.removeValue(forKey: port) }
    }

    /// Closes those that nobody has taken, and says so.
    func closeOthers(_ logger: Logger) {
        let others = sockets.withLock { sockets in
            defer { sockets = [:] }
            return sockets
        }
        for (port, descriptor) in others.sorted(by: { $0.key < $1.key }) {
            logger.warning("a socket was passed for a port that is none of ours", metadata: ["port": "\(port)"])
            close(descriptor)
        }
        for descriptor in useless {
            logger.warning("a descriptor was passed that is of no use", metadata: ["descriptor": "\(descriptor)"])
            close(descriptor)
        }
    }

    /// The local port of a socket that listens for connections by TCP; nil for anything else.
    private static func port(of descriptor: CInt) -> Int? {
        var isListening: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0, isListening != 0 else {
            return nil
        }
        var storage = sockaddr_storage()
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { pointer -> Int? in
            let status = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(descriptor, $0, &length)
            }
            guard status == 0 else { return nil }
            // The port is in the same place of both.
            switch CInt(pointer.pointee.ss_family) {
            case AF_INET, AF_INET6:
                return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    Int(UInt16(bigEndian: $0.pointee.sin_port))
                }
            default: return nil
            }
        }
    }
}
