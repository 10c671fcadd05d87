import Glibc

/// Connections to a port of 127.0.0.1 that say nothing.
///
/// Not `Sendable`: one task opens, counts and closes them.
public final class IdleConnections {
    private var descriptors: [Int32] = []

    /// Opens as many as the system lets this process.
    public init(port: Int, count: Int) {
        for _ in 0..<count {
            if let descriptor = LoopbackSocket.connect(port: port) { descriptors.append(descriptor) }
        }
    }

    deinit { close() }

    /// Those that the other side has not closed.
    public var open: Int {
        descriptors.count { descriptor in
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            return count > 0 || (count < 0 && errno == EAGAIN)
        }
    }

    /// Ends all.
    public func close() {
        for descriptor in descriptors { Glibc.close(descriptor) }
        descriptors = []
    }
}
