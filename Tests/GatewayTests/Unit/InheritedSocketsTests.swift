@testable import Gateway
import Glibc
import Logging
import TestSupport
import Testing

@Suite("Sockets passed by a service manager")
struct InheritedSocketsTests {
    /// Duplicates descriptors to consecutive numbers; returns the first one.
    private func makeConsecutive(_ descriptors: [Int32]) throws -> Int32 {
        let source = try #require(descriptors.first)
        var first = fcntl(source, F_DUPFD_CLOEXEC, 500)
        // No open descriptor is replaced.
        while descriptors.indices.dropFirst().contains(where: { isOpen(first + Int32($0)) }) {
            close(first)
            first = fcntl(source, F_DUPFD_CLOEXEC, first + Int32(descriptors.count))
        }
        try #require(first >= 0)
        for (place, descriptor) in descriptors.enumerated() where place > 0 {
            #expect(dup2(descriptor, first + Int32(place)) == first + Int32(place))
        }
        return first
    }

    private func isOpen(_ descriptor: Int32) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

    @Test("hands each socket out once by port with close-on-exec set, and closes unusable descriptors")
    func ports() throws {
        let kept = try ListeningSockets(2)
        defer { withExtendedLifetime(kept) {} }
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let first = try makeConsecutive([kept.descriptors[0], ends[0], kept.descriptors[1], kept.descriptors[0]])
        let sockets = InheritedSockets(environment: ["LISTEN_PID": "77", "LISTEN_FDS": "4"], pid: 77, first: first)
        #expect(sockets.socket(for: kept.ports[0], isLoopback: true) == first)
        #expect(sockets.socket(for: kept.ports[0]) == nil)
        #expect(fcntl(first, F_GETFD) & FD_CLOEXEC != 0)
        sockets.closeOthers(Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        // A pipe, an unused port, and a duplicate port.
        #expect(isOpen(first) && !isOpen(first + 1) && !isOpen(first + 2) && !isOpen(first + 3))
        close(first)
    }

    @Test("hands no socket on all addresses out for a loopback listener")
    func loopback() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #expect(listen(descriptor, 1) == 0, "on all addresses, and a port of the system's choice")
        let address = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { storage -> SocketTarget? in
            var length = socklen_t(storage.count)
            let status = storage.withMemoryRebound(to: sockaddr.self) {
                getsockname(descriptor, $0.baseAddress, &length)
            }
            return status == 0 ? SocketTarget(socketAddress: UnsafeRawBufferPointer(storage)) : nil
        }
        let port = Int(try #require(address).port)
        let sockets = InheritedSockets(
            environment: ["LISTEN_PID": "77", "LISTEN_FDS": "1"],
            pid: 77,
            first: descriptor
        )
        #expect(sockets.socket(for: port, isLoopback: true) == nil)
        #expect(sockets.socket(for: port) == descriptor)
        close(descriptor)
    }

    @Test(
        "ignores sockets of another process and invalid counts",
        arguments: [
            ["LISTEN_PID": "78", "LISTEN_FDS": "1"], ["LISTEN_FDS": "1"], ["LISTEN_PID": "77"],
            ["LISTEN_PID": "77", "LISTEN_FDS": "-1"], ["LISTEN_PID": "77", "LISTEN_FDS": "many"],
        ]
    )
    func others(environment: [String: String]) throws {
        let kept = try ListeningSockets(2)
        defer { withExtendedLifetime(kept) {} }
        let sockets = InheritedSockets(environment: environment, pid: 77, first: kept.descriptors[0])
        #expect(kept.ports.allSatisfy { sockets.socket(for: $0) == nil })
    }
}
