import Foundation
import Glibc
import Media

@testable import Egress

enum Port {
    struct NeverOpened: Error {}

    /// A port that was free a moment ago.
    static func free() throws -> UInt16 {
        let listener = try Listener()
        defer { listener.end() }
        return listener.port
    }

    static func waitUntilOpen(_ port: UInt16) throws {
        let deadline = MonotonicTime.now().advanced(seconds: 20)
        guard let address = NetworkAddress(literal: "127.0.0.1", port: port) else { throw NeverOpened() }
        while MonotonicTime.now() < deadline {
            let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            defer { close(socket) }
            if address.withSocketAddress({ connect(socket, $0, $1) }) == 0 { return }
            usleep(20_000)
        }
        throw NeverOpened()
    }
}
