import Glibc

/// Listening sockets on 127.0.0.1 that outlive the processes they are passed to, as a service manager keeps them.
///
/// They are closed with the value.
public final class KeptSockets: Sendable {
    /// The lowest descriptor they may have: below it are those that the processes get them as.
    private static let lowest: Int32 = 64

    /// The port of each.
    public let ports: [Int]
    /// The descriptor of each in this process.
    public let descriptors: [Int32]

    /// Opens so many, on free ports.
    ///
    /// - Throws: `ToolFailure` when the system has none.
    public init(_ count: Int) throws {
        var opened: [(descriptor: Int32, port: Int)] = []
        for _ in 0..<count {
            let first = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            let descriptor = fcntl(first, F_DUPFD_CLOEXEC, Self.lowest)
            close(first)
            let port = descriptor >= 0 ? FreePort.bindToAnyPort(descriptor) : 0
            guard port > 0, listen(descriptor, 128) == 0 else {
                let problem = String(cString: strerror(errno))
                for socket in opened { close(socket.descriptor) }
                throw ToolFailure("cannot listen on 127.0.0.1", log: problem)
            }
            opened.append((descriptor, port))
        }
        descriptors = opened.map(\.descriptor)
        ports = opened.map(\.port)
    }

    deinit {
        for descriptor in descriptors { close(descriptor) }
    }
}
