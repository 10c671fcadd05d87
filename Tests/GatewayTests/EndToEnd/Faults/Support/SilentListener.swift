import FootlightTesting
import Glibc

/// A port that takes TCP connections and never says a word.
final class SilentListener: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        port = try FreePort.pick()
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(truncatingIfNeeded: port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        // The kernel takes connections up to the length of the queue by itself.
        guard isBound, listen(descriptor, 64) == 0 else { throw ToolFailure("cannot listen on \(port)") }
    }

    deinit { close(descriptor) }
}
