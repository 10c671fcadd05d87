import FootlightTesting
import Foundation
import Glibc
import Synchronization

/// Unused ports on 127.0.0.1.
public enum FreePort {
    /// The ports returned by this process, so that concurrent tests never get the same one.
    private static let reserved = Mutex<Set<Int>>([])

    /// Returns a port that was free a moment ago and was not returned before.
    ///
    /// - Throws: `ToolFailure` if there is no free port.
    public static func pick() throws -> Int {
        for _ in 0..<64 {
            let port = try bindToAnyPort()
            if reserved.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ToolFailure("no free port on 127.0.0.1 after 64 tries")
    }

    /// Returns distinct free ports.
    public static func pick(_ count: Int) throws -> [Int] {
        try (0..<count).map { _ in try pick() }
    }

    /// Returns whether the port of 127.0.0.1 accepts TCP connections.
    public static func isListening(_ port: Int) -> Bool {
        withSocket { descriptor in
            withAddress(port: port) { connect(descriptor, $0, $1) } == 0
        } ?? false
    }

    /// Waits until the port accepts connections.
    ///
    /// - Throws: `ToolFailure` after the deadline.
    public static func waitUntilListening(_ port: Int, within deadline: Duration = .seconds(20)) async throws {
        guard try await eventually(within: deadline, { isListening(port) }) else {
            throw ToolFailure("nothing listens on 127.0.0.1:\(port) after \(deadline)")
        }
    }

    private static func bindToAnyPort() throws -> Int {
        let port = withSocket(bindToAnyPort)
        guard let port, port > 0 else {
            throw ToolFailure("cannot bind a socket to 127.0.0.1", log: String(cString: strerror(errno)))
        }
        return port
    }

    /// Binds a socket to a free port; returns 0 on failure.
    static func bindToAnyPort(_ descriptor: Int32) -> Int {
        guard withAddress(port: 0, { bind(descriptor, $0, $1) }) == 0 else { return 0 }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return result == 0 ? Int(UInt16(bigEndian: address.sin_port)) : 0
    }

    private static func withSocket<Result>(_ body: (Int32) -> Result) -> Result? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return body(descriptor)
    }

    private static func withAddress<Result>(
        port: Int,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// Listening sockets on 127.0.0.1 to pass to processes, as a service manager does.
///
/// They stay open until the value is released.
public final class ListeningSockets: Sendable {
    /// The lowest descriptor used, above those that the processes receive.
    private static let lowest: Int32 = 64

    /// The ports of the sockets.
    public let ports: [Int]
    /// The descriptors of the sockets in this process.
    public let descriptors: [Int32]

    /// Opens sockets on free ports.
    ///
    /// - Throws: `ToolFailure` if there is no free port.
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
