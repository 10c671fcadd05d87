import Foundation
import Glibc
import Media
import Synchronization

@testable import Egress

/// A TCP server that takes connections and treats each as its script says; ended by `end`.
final class Listener: Sendable {
    struct Failure: Error {}

    let port: UInt16
    private let socket: Int32
    private let isEnded = Atomic<Bool>(false)
    private let accepted = Atomic<Int>(0)

    /// Connections taken so far.
    var connections: Int { accepted.load(ordering: .acquiring) }

    init() throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let any = NetworkAddress(ipv4: (127, 0, 0, 1), port: 0)
        guard any.withSocketAddress({ bind(socket, $0, $1) }) == 0, listen(socket, 16) == 0 else { throw Failure() }
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            _ = pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
        }
        self.socket = socket
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Runs `script` for every connection, each on its own thread; the socket is closed afterwards.
    func serve(_ script: @escaping @Sendable (_ socket: Int32, _ isEnded: @escaping @Sendable () -> Bool) -> Void) {
        Thread.detachNewThread { [self] in
            while !ended() {
                var poller = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
                guard poll(&poller, 1, 50) > 0, !ended() else { continue }
                let peer = accept(socket, nil, nil)
                guard peer >= 0 else { continue }
                accepted.wrappingAdd(1, ordering: .acquiringAndReleasing)
                Thread.detachNewThread { [self] in
                    script(peer) { self.ended() }
                    close(peer)
                }
            }
        }
    }

    func end() {
        if !isEnded.exchange(true, ordering: .acquiringAndReleasing) { shutdown(socket, Int32(SHUT_RDWR)) }
    }

    deinit {
        end()
        close(socket)
    }

    private func ended() -> Bool { isEnded.load(ordering: .acquiring) }
}
