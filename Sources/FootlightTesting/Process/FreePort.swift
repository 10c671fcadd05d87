import Foundation
import Glibc
import Synchronization

/// Ports on 127.0.0.1 that nobody listens on.
public enum FreePort {
    /// Ports given out by this process, so that two tests at the same time never get the same one.
    private static let given = Mutex<Set<Int>>([])

    /// A port that was free a moment ago and is not given out a second time by this process.
    ///
    /// - Throws: `ToolFailure` when the system has no free port.
    public static func pick() throws -> Int {
        for _ in 0..<64 {
            let port = try bindToAnyPort()
            if given.withLock({ $0.insert(port).inserted }) { return port }
        }
        throw ToolFailure("no free port on 127.0.0.1 after 64 tries")
    }

    /// As many distinct free ports as asked for.
    public static func pick(_ count: Int) throws -> [Int] {
        try (0..<count).map { _ in try pick() }
    }

    /// Whether something accepts TCP connections on the port of 127.0.0.1.
    public static func isListening(_ port: Int) -> Bool {
        withSocket { descriptor in
            withAddress(port: port) { connect(descriptor, $0, $1) } == 0
        } ?? false
    }

    /// Waits until something accepts connections on the port.
    ///
    /// - Throws: `ToolFailure` when nothing does before the deadline.
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

    /// Binds a socket to a free port; 0 when that fails.
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
